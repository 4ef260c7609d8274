"""A dependency parser in NumPy: biaffine attention over a bidirectional LSTM (Dozat & Manning 2017), and its training.

Modules:

    pieces                  words as bags of pieces
    word_vectors            word vectors from plain text
    lstm, network           the equations of the network
    gradients, training     its gradient and its training
    spanning_tree           the best tree under the scores of arcs
    states                  the states of the network while parsing
    parsing                 from sentences to trees
    parser_file             a trained parser as a file
"""
