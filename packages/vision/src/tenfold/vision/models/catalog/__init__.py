"""Published checkpoints by model: where each file is, what it was trained on, how pictures are prepared for it.

The lists of classes are those of the data sets: ImageNet's by WordNet's first word for each, COCO's by its own numbers
(of which some were never used: "N/A"), Pascal VOC's and Kinetics-400's.
"""
