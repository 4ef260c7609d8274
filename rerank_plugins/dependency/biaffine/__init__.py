"""A dependency parser in NumPy: biaffine attention over a bidirectional LSTM (Dozat & Manning 2017), and its training.

pieces, word_vectors    words as bags of pieces, and word vectors from plain text
lstm, network           the equations of the network
training                its gradient and its training
parsing                 from sentences to the best trees under the scores of arcs
parser_file             a trained parser as a file
"""
