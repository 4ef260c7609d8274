"""Classifies single sentences as acceptable or not, by classifiers trained on judged sentences.

A judgement is the label of a sentence (acceptable or not); a classifier predicts labels; classification is training
classifiers and applying them.

judgements_file    files of judged sentences
classifier         a classifier and its file
classification     training classifiers on one set, applying them to another
measures           accuracy, Matthews correlation, the ROC curve, reliability
report             tables, records and plots of the measures
command            `rerank acceptability sentences`: train and measure
classify_command   `rerank acceptability classify`: apply a saved classifier
"""
