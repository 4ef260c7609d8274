"""The kernel of retrieval: the k documents with the highest sums of impacts, without reading all postings.

Words are taken by falling bound, the most that a word can add to a document (the term-at-a-time form of MaxScore:
Turtle and Flood 1995). Once the words that are left cannot lift a document that has not been met above the k-th best,
no document is added any more: the sums of those that can still be among the best are completed by binary search, or by
passing over a list of postings that is short beside them. The result is exact, and most of the long lists of frequent
words are not read at all.
"""

from __future__ import annotations

from typing import Any

from rerank_plugins.kit.kernels import filling_kernel, part, place_of

DOCUMENT_BITS = 31  # low bits of a key: those of the document, turned round, so that of equal sums the first is best
LAST = (1 << DOCUMENT_BITS) - 1
LEFT_OUT = -(1 << 30)  # far below any sum of impacts, so that a document that begins with it is never among the best
STEPS = 16  # of a binary search, about: where it costs more than passing over the postings


@part
def keep_best(totals: Any, documents: Any, number: int, heap: Any) -> int:
    """Fill a min-heap with the highest keys of documents whose total is positive; return its size."""
    size = 0
    for i in range(number):
        document = documents[i]
        if totals[document] <= 0:
            continue
        key = (totals[document] << DOCUMENT_BITS) + LAST - document
        if size < len(heap):
            # Let the new key rise from the end.
            place = size
            size += 1
            while place > 0 and heap[(place - 1) >> 1] > key:
                heap[place] = heap[(place - 1) >> 1]
                place = (place - 1) >> 1
            heap[place] = key
        elif key > heap[0]:
            # Let the new key sink from the top.
            place = 0
            while 2 * place + 1 < size:
                child = 2 * place + 1
                if child + 1 < size and heap[child + 1] < heap[child]:
                    child += 1
                if heap[child] >= key:
                    break
                heap[place] = heap[child]
                place = child
            heap[place] = key
    return size


@filling_kernel
def best_documents(
    terms: Any,
    counts: Any,
    bounds: Any,
    left_out: Any,
    starts: Any,
    documents: Any,
    impacts: Any,
    totals: Any,
    touched: Any,
    heap: Any,
) -> int:
    """Fill `heap` with the keys of the documents of highest total and return their number, at most len(heap).

    A key is (total << DOCUMENT_BITS) + LAST - document, where the total is the sum of count times impact over the
    `terms` that the document has. `bounds`, the most that each term can add, must fall. Documents of `left_out` are
    never among the best. `totals` (documents) int32 must be zero, and is zero again afterwards; `touched` (documents)
    is overwritten.
    """
    if len(heap) == 0:
        return 0
    met = 0  # documents whose total is not zero
    for i in range(len(left_out)):
        totals[left_out[i]] = LEFT_OUT
        touched[met] = left_out[i]
        met += 1
    rest = 0  # the most that the terms not yet added up can add
    for i in range(len(terms)):
        rest += bounds[i]
    # Add up the postings of the first terms.
    threshold, next_term, top = 0, 0, 0
    while next_term < len(terms) and rest >= threshold:
        term, count = terms[next_term], counts[next_term]
        for place in range(starts[term], starts[term + 1]):
            document = documents[place]
            if totals[document] == 0:
                touched[met] = document
                met += 1
            total = totals[document] + count * impacts[place]
            totals[document] = total
            top = max(top, total)
        rest -= bounds[next_term]
        next_term += 1
        # The threshold is at most the highest total, so until that is above the rest there is no need to know it.
        if rest < top and next_term < len(terms) and keep_best(totals, touched, met, heap) == len(heap):
            threshold = heap[0] >> DOCUMENT_BITS
    # Complete the totals of the documents that can reach the threshold, which are the first `alive` of `touched`.
    alive = met
    while next_term < len(terms):
        within = 0
        for i in range(alive):
            document = touched[i]
            if totals[document] + rest >= threshold:
                touched[i], touched[within] = touched[within], document
                within += 1
        alive = within
        term, count = terms[next_term], counts[next_term]
        first, last = starts[term], starts[term + 1]
        if alive * STEPS < last - first:
            for i in range(alive):
                place = place_of(documents, first, last, touched[i])
                if place >= 0:
                    totals[touched[i]] += count * impacts[place]
        else:
            for place in range(first, last):
                if totals[documents[place]] != 0:
                    totals[documents[place]] += count * impacts[place]
        rest -= bounds[next_term]
        next_term += 1
    size = keep_best(totals, touched, alive, heap)
    for i in range(met):
        totals[touched[i]] = 0
    return size
