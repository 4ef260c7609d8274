"""A dependency parser in NumPy: biaffine attention over a bidirectional LSTM (Dozat & Manning 2017), and its training.

pieces.py words as bags of pieces · vectors.py word vectors from text · lstm.py, network.py the equations ·
gradients.py, training.py learning · spanning_tree.py the best tree · parsing.py sentences to trees · model_file.py
"""
