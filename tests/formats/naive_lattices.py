"""An obvious twin of the n-best search in lattices: every path is walked, and each word sequence keeps its best one."""


def all_sequences(arcs, finals, start, acoustic_scale, lm_scale, word_penalty):
    """Word sequence -> its lowest scaled cost; `arcs` are (from, to, word, acoustic, lm), `finals` node -> (ac, lm)."""
    best = {}

    def walk(node, words, cost):
        if node in finals:
            acoustic, lm = finals[node]
            total = cost + acoustic_scale * acoustic + lm_scale * lm
            best[words] = min(best.get(words, total), total)
        for source, to, word, acoustic, lm in arcs:
            if source == node:
                step = acoustic_scale * acoustic + lm_scale * lm + (word_penalty if word else 0)
                walk(to, (*words, word) if word else words, cost + step)

    walk(start, (), 0.0)
    return best
