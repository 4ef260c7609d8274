"""ROVER as Fiscus (1997) describes it, slowly: lists of arcs, alignment by recursion over tables, a loop over words."""

EMPTY = ""


def align(slots, words):
    """The slots of a network (lists of the arcs of the systems so far) with those of one more system."""
    systems = len(slots[0]) if slots else 0
    table = {(0, 0): (0.0, None)}
    for i in range(len(slots) + 1):
        for j in range(len(words) + 1):
            ways = []
            if i and j:
                arcs = slots[i - 1]
                price = 0 if words[j - 1] in arcs else 1 if EMPTY in arcs else 4
                ways.append((table[i - 1, j - 1][0] + price, "word"))
            if j:
                ways.append((table[i, j - 1][0] + 3, "new"))
            if i:
                ways.append((table[i - 1, j][0] + (0.1 if EMPTY in slots[i - 1] else 3), "none"))
            if ways:
                cheapest = min(price for price, _ in ways)
                table[i, j] = next(way for way in ways if way[0] < cheapest + 1e-9)
    i, j, aligned = len(slots), len(words), []
    while i or j:
        way = table[i, j][1]
        i, j = i - (way != "new"), j - (way != "none")
        arcs = slots[i] if way != "new" else [EMPTY] * systems
        aligned.append([*arcs, EMPTY if way == "none" else words[j]])
    return aligned[::-1]


def network(outputs):
    """For each slot, the word of each system or EMPTY."""
    slots = [[word] for word in outputs[0]]
    for system, words in enumerate(outputs[1:], 1):
        slots = align(slots, words) if slots else [[EMPTY] * system + [word] for word in words]
    return slots


def rover(outputs, confidences, alpha=1.0, null=0.0, kind="avg"):
    """The words that win, each with its confidence."""
    remaining = [list(values) for values in confidences]
    won = []
    for arcs in network(outputs):
        values = [null if arc == EMPTY else remaining[system].pop(0) for system, arc in enumerate(arcs)]
        best = None
        for arc in [arc for arc in arcs if arc != EMPTY] + [EMPTY]:
            own = [value for other, value in zip(arcs, values, strict=True) if other == arc]
            if own:
                confidence = sum(own) / len(own) if kind == "avg" else max(own)
                score = alpha * len(own) / len(arcs) + (1 - alpha) * confidence
                if best is None or score > best[0] + 1e-9:
                    best = score, arc, confidence
        if best[1] != EMPTY:
            won.append(best[1:])
    return won
