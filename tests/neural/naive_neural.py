"""Scores by transformers models, one sentence or masked copy a call, without padding, hooks or shared prefixes."""

import numpy as np


def owner(text: str, at: int) -> int:
    """The number of the word of a text, joined by single spaces, to which a character belongs; a space goes right."""
    return text[:at].count(" ") + (text[at] == " ")


def pieces_of(tokenizer, words):
    """The (id, number of its word) of each piece."""
    text = " ".join(words)
    coded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    return [
        (piece, owner(text, max(start, end - 1)))
        for piece, (start, end) in zip(coded["input_ids"], coded["offset_mapping"], strict=True)
    ]


def distribution(model, ids, place, **more):
    import torch

    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids]), **more).logits[0, place]
    return torch.log_softmax(logits.double(), 0)


def causal(model, tokenizer, words, start, end):
    """(words + 1) ln p of words and `end`."""
    scores, before = np.zeros(len(words) + 1), [start]
    for piece, word in [*pieces_of(tokenizer, words), (end, len(words))]:
        scores[word] += float(distribution(model, before, -1)[piece])
        before.append(piece)
    return scores


def masked(model, tokenizer, words, *, whole_words=False):
    """(words + 1) pseudo-log-likelihoods of words, and 0."""
    scores, pieces = np.zeros(len(words) + 1), pieces_of(tokenizer, words)
    for at, (piece, word) in enumerate(pieces):
        hidden = [
            tokenizer.mask_token_id if k == at or (whole_words and k > at and other == word) else id_
            for k, (id_, other) in enumerate(pieces)
        ]
        ids = [tokenizer.cls_token_id, *hidden, tokenizer.sep_token_id]
        scores[word] += float(distribution(model, ids, at + 1)[piece])
    return scores


def translation(model, tokenizer, source, target):
    """ln p(target | source), the end included."""
    import torch

    ids, wanted = tokenizer(source)["input_ids"], tokenizer(text_target=target)["input_ids"]
    total, before = 0.0, [model.config.decoder_start_token_id]
    for piece in wanted:
        total += float(distribution(model, ids, -1, decoder_input_ids=torch.tensor([before]))[piece])
        before.append(piece)
    return total
