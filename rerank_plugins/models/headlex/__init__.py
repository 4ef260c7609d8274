"""HEADLEX: a head-lexicalised language model, Collins' Model 1 with the previous modifier (Pauls and Klein 2012, §5.2).

    collector = collect(trees)                          # trees of a treebank or a parser
    model = train(collector, Settings())
    model.score_trees(trees)                            # (trees) ln p(T), words included
    write_model(model, path); read_model(path)

Files, from the bottom up: heads.py (heads in arrays), events.py (the factors), model.py, training.py, model_file.py.
The arrays of trees, the symbols and the vocabulary are those of the treelet model.
"""
