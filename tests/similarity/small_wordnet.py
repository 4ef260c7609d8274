"""A WordNet database of two dozen synsets, in the files of the Princeton database, offsets being places of lines."""

from pathlib import Path

LICENCE = "  1 This database was made by hand for tests.\n  2 It has no licence to speak of.\n"
LETTER = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}

# key: words; hypernyms (a key, or `@i key` of an instance)
SYNSETS = {
    "noun": {
        "entity": (["entity"], []),
        "object": (["object", "physical_object"], ["entity"]),
        "animal": (["animal", "beast"], ["object"]),
        "pet": (["pet"], ["animal"]),
        "canine": (["canine"], ["animal"]),
        "dog": (["dog", "domestic_dog"], ["canine", "pet"]),
        "puppy": (["puppy"], ["dog"]),
        "wolf": (["wolf"], ["canine"]),
        "feline": (["feline"], ["animal"]),
        "cat": (["cat"], ["feline", "pet"]),
        "bank1": (["bank"], ["object"]),
        "institution": (["institution"], ["entity"]),
        "bank2": (["bank", "banking_company"], ["institution"]),
        "city": (["city"], ["object"]),
        "oslo": (["Oslo"], ["@i city"]),
        "berry": (["berry"], ["object"]),
        "chap": (["chap", "dog"], ["entity"]),
    },
    "verb": {
        "move": (["move"], []),
        "run": (["run"], ["move"]),
        "sprint": (["sprint"], ["run"]),
        "think": (["think"], []),
        "inhibit": (["inhibit"], ["restrain"]),
        "restrain": (["restrain"], ["inhibit"]),
    },
    "adj": {"big": (["big", "large"], []), "small": (["small"], [])},
    "adv": {"quickly": (["quickly", "fast"], [])},
}
EXCEPTIONS = {"noun": "oxen ox\n", "verb": "ran run\nthought think\n", "adj": "", "adv": ""}


def write_wordnet(folder: Path) -> Path:
    """The files of the database."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, synsets in SYNSETS.items():
        letter = LETTER[part]

        def line(key, offsets, part=part, synsets=synsets, letter=letter):
            words, above = synsets[key]
            pointers = [("@i", each[3:]) if each.startswith("@i ") else ("@", each) for each in above]
            fields = [f"{offsets.get(key, 0):08d} 05 {letter} {len(words):02x}"]
            fields += [f"{word} 0" for word in words] + [f"{len(pointers):03d}"]
            fields += [f"{symbol} {offsets.get(target, 0):08d} {letter} 0000" for symbol, target in pointers]
            return " ".join([*fields, "01 + 02 00" if part == "verb" else "", f"| what {key} means"]) + "  \n"

        offsets, place = {}, len(LICENCE)
        for key in synsets:
            offsets[key] = place
            place += len(line(key, {}).encode())
        text = LICENCE + "".join(line(key, offsets) for key in synsets)
        assert all(text[place : place + 8] == f"{place:08d}" for place in offsets.values())
        (folder / f"data.{part}").write_text(text)
        senses = {}
        for key, (words, _) in synsets.items():
            for word in words:
                senses.setdefault(word.lower(), []).append(offsets[key])
        rows = [
            f"{lemma} {letter} {len(found)} 1 @ {len(found)} 0 {' '.join(f'{offset:08d}' for offset in found)}  \n"
            for lemma, found in sorted(senses.items())
        ]
        (folder / f"index.{part}").write_text(LICENCE + "".join(rows))
        (folder / f"{part}.exc").write_text(EXCEPTIONS[part])
    return folder
