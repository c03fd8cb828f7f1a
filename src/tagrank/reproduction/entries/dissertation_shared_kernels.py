"""The dissertation: chapters 3 and 6, weights of kernels that all labels share."""

from tagrank.reproduction.declarations import IMPOSSIBLE, IN_PART, IN_PATTERN, Figures, Table

TABLES = (
    Table(
        "ml-mkl-table3.1",
        "table 3.1",
        "Category MAP (%) on Caltech 101, weights of each label and weights that all share.",
        IN_PATTERN,
        "Caltech 101 is not at hand. That shared weights cost no quality holds on both of our sets.",
        Figures.read("""
           | 10 a class | 20 a class | 30 a class
Average    | 59.0 ± 0.7 | 69.7 ± 0.6 | 77.2 ± 0.5
MKL-Level  | 54.7 ± 1.0 | 63.4 ± 0.6 | 84.4 ± 0.4
MKL-SIP-L1 | 53.8 ± 0.6 | 63.8 ± 0.9 | 83.9 ± 0.7
MKL-SIP-L2 | 60.1 ± 0.6 | 70.7 ± 1.0 | 79.1 ± 0.6
ML-MKL-Sum | 55.1 ± 1.3 | 65.0 ± 0.7 | 85.6 ± 0.7
ML-MKL-SA  | 54.5 ± 0.7 | 66.1 ± 0.9 | 85.3 ± 0.8
"""),
        experiment="shared_kernels",
    ),
    Table(
        "ml-mkl-table3.2",
        "table 3.2",
        "Category MAP (%) on VOC 2007, weights of each label and weights that all share.",
        IN_PATTERN,
        "VOC 2007 is not at hand. That shared weights cost no quality holds on both of our sets.",
        Figures.read("""
           | 1 %        | 5 %        | 25 %        | 50 %       | 75 %
Average    | 21.9 ± 0.5 | 42.4 ± 0.3 | 48.2 ± 0.8  | 54.5 ± 0.8 | 57.5 ± 0.8
MKL-Level  | 23.4 ± 0.6 | 44.4 ± 0.4 | 51.5 ± 0.5  | 57.1 ± 0.6 | 59.6 ± 0.9
MKL-SIP-L1 | 22.6 ± 1.0 | 44.2 ± 0.3 | 51.2 ± 0.33 | 56.6 ± 0.5 | 59.5 ± 0.9
MKL-SIP-L2 | 22.7 ± 0.4 | 42.6 ± 0.2 | 49.8 ± 0.2  | 57.3 ± 0.2 | 60.6 ± 0.5
ML-MKL-Sum | 24.1 ± 0.4 | 43.5 ± 0.5 | 50.1 ± 0.4  | 55.8 ± 0.1 | 58.8 ± 0.2
ML-MKL-SA  | 24.6 ± 0.9 | 44.1 ± 0.6 | 50.6 ± 0.4  | 56.1 ± 0.2 | 58.9 ± 0.4
"""),
        experiment="shared_kernels",
    ),
    Table(
        "ml-mkl-table3.3",
        "table 3.3",
        "Training seconds on Caltech 101.",
        IN_PART,
        "Other data and another machine. That shared weights train faster than weights of each label holds "
        "for ML-MKL-Sum; the stochastic ML-MKL-SA, the fastest of the dissertation, is the slowest here, "
        "because it is held to a certified gap and does not reach it.",
        Figures.read("""
           | 10 a class    | 20 a class     | 30 a class
level-MKL  | 816.1 ± 125.6 | 3570 ± 519.0   | 6456.6 ± 664.2
MKL-SIP-L1 | 550.8 ± 91.8  | 2233.8 ± 871.5 | 4518.6 ± 501.2
MKL-SIP-L2 | 387.6 ± 72.4  | 1275.0 ± 201.6 | 3100.8 ± 314.6
ML-MKL-Sum | 302.7 ± 4.8   | 1053.8 ± 201.3 | 3817.9 ± 308.1
ML-MKL-SA  | 119.2 ± 0.9   | 471.3 ± 16.9   | 1140.4 ± 276.5
"""),
        experiment="shared_kernels",
    ),
    Table(
        "ml-mkl-table3.4",
        "table 3.4",
        "Training seconds on VOC 2007.",
        IN_PART,
        "As table 3.3: shared weights are faster with ML-MKL-Sum, not with ML-MKL-SA.",
        Figures.read("""
           | 1 %        | 5 %         | 25 %         | 50 %           | 75 %
level-MKL  | 4.5 ± 0.5  | 43.3 ± 7.1  | 802 ± 113.2  | 4332.6 ± 587.3 | 5946 ± 950.1
MKL-SIP-L1 | 6.4 ± 3.4  | 47.9 ± 10.6 | 692 ± 67.8   | 4396.8 ± 606.7 | 6180 ± 940.2
MKL-SIP-L2 | 16.4 ± 2.3 | 34.3 ± 7.4  | 192 ± 21.3   | 706 ± 178.3    | 1686 ± 246.5
ML-MKL-Sum | 2.5 ± 0.3  | 57.4 ± 9.1  | 372.3 ± 26.6 | 2162.1 ± 175.3 | 3983 ± 402.2
ML-MKL-SA  | 1.2 ± 0.3  | 39.8 ± 4.8  | 234.1 ± 21.1 | 886.5 ± 101.7  | 1224.3 ± 136.2
"""),
        experiment="shared_kernels",
    ),
    Table(
        "ml-mkl-figure3.3",
        "figures 3.3, 3.4, 3.5, 3.6",
        "How the weights of kernels move while they are learned, Caltech 101.",
        IN_PATTERN,
        "Drawings without numbers: the text reports that the weights of ML-MKL-Sum, found by SIP, move far "
        "at the beginning and those of ML-MKL-SA and level little. So it is here.",
        experiment="shared_kernels",
    ),
    Table(
        "ml-mkl-figure3.7",
        "figures 3.7, 3.8, 3.9",
        "MAP of ML-MKL-SA over its step sizes and smoothing, Caltech 101.",
        IMPOSSIBLE,
        "Drawings without numbers, of data that are not at hand; the exact solver has no such settings.",
    ),
    Table(
        "ml-mkl-figure3.10",
        "figures 3.10, 3.11",
        "MAP and training time over the number of samples, ImageNet.",
        IMPOSSIBLE,
        "Drawings without numbers; ImageNet is not at hand.",
    ),
    Table(
        "mk-mlr-table6.1",
        "table 6.1",
        "Category AUC (%) on ESP Game, 2,500 training pictures, 50 to 500 labels.",
        IN_PART,
        "ESP Game is not at hand with its 186 kernels; ours are 1,000 photographs of Corel5k with 50 labels "
        "and 21 kernels, and yeast, one setting each, so that nothing grows along the columns.",
        Figures.read("""
           | 50    | 100   | 200   | 500
SK-SVM     | 70.40 | 70.00 | 69.85 | 69.01
SK-MLR     | 71.84 | 71.32 | 70.55 | 70.04
AVG        | 75.86 | 75.61 | 75.43 | 73.66
MKL-L1     | 77.07 | 76.12 | 75.60 | 73.10
MKL-L2     | 76.43 | 76.05 | 75.78 | 73.19
ML-MKL-Sum | 76.86 | 76.22 | 76.05 | 73.62
ML-MKL-SA  | 77.26 | 76.53 | 76.33 | 73.89
AVG-MLR    | 76.06 | 76.02 | 76.11 | 73.66
MK-MLR     | 78.39 | 77.69 | 77.58 | 74.87
"""),
        experiment="shared_kernels",
    ),
    Table(
        "mk-mlr-table6.2",
        "table 6.2",
        "Image AUC (%) on ESP Game, 2,500 training pictures, 50 to 500 labels.",
        IN_PART,
        "ESP Game is not at hand with its 186 kernels; ours are 1,000 photographs of Corel5k with 50 labels "
        "and 21 kernels, and yeast, one setting each, so that nothing grows along the columns.",
        Figures.read("""
           | 50    | 100   | 200   | 500
SK-SVM     | 75.95 | 76.32 | 76.68 | 76.14
SK-MLR     | 77.73 | 78.97 | 80.41 | 79.90
AVG        | 80.81 | 81.44 | 82.06 | 81.67
MKL-L1     | 81.67 | 81.85 | 82.06 | 81.50
MKL-L2     | 79.09 | 80.14 | 81.24 | 80.82
ML-MKL-Sum | 81.51 | 81.84 | 82.22 | 81.78
ML-MKL-SA  | 81.67 | 81.99 | 82.40 | 81.93
AVG-MLR    | 81.86 | 82.97 | 84.10 | 83.47
MK-MLR     | 83.28 | 84.04 | 84.93 | 84.68
"""),
        experiment="shared_kernels",
    ),
    Table(
        "mk-mlr-table6.3",
        "table 6.3",
        "Category AUC (%) on MIR Flickr, 6,250 training pictures, 50 to 500 labels.",
        IN_PART,
        "MIR Flickr is not at hand with its 186 kernels; ours are 1,000 photographs of Corel5k with 50 "
        "labels and 21 kernels, and yeast, one setting each, so that nothing grows along the columns.",
        Figures.read("""
           | 50    | 100   | 200   | 500
SK-SVM     | 65.14 | 64.83 | 63.75 | 62.16
SK-MLR     | 65.67 | 65.36 | 64.52 | 63.20
AVG        | 70.31 | 68.45 | 66.93 | 64.88
MKL-L1     | 70.98 | 69.03 | 66.96 | 64.98
MKL-L2     | 70.83 | 68.86 | 67.24 | 65.31
ML-MKL-Sum | 71.00 | 69.53 | 67.93 | 65.97
ML-MKL-SA  | 71.28 | 69.83 | 68.21 | 66.05
AVG-MLR    | 72.10 | 70.16 | 68.35 | 66.30
MK-MLR     | 72.28 | 70.34 | 68.25 | 66.44
"""),
        experiment="shared_kernels",
    ),
    Table(
        "mk-mlr-table6.4",
        "table 6.4",
        "Image AUC (%) on MIR Flickr, 6,250 training pictures, 50 to 500 labels.",
        IN_PART,
        "MIR Flickr is not at hand with its 186 kernels; ours are 1,000 photographs of Corel5k with 50 "
        "labels and 21 kernels, and yeast, one setting each, so that nothing grows along the columns.",
        Figures.read("""
           | 50    | 100   | 200   | 500
SK-SVM     | 63.82 | 62.94 | 62.28 | 62.01
SK-MLR     | 64.67 | 63.96 | 63.35 | 62.88
AVG        | 72.89 | 71.99 | 71.10 | 70.69
MKL-L1     | 73.57 | 72.70 | 71.53 | 71.08
MKL-L2     | 73.13 | 72.35 | 71.64 | 70.71
ML-MKL-Sum | 73.37 | 72.58 | 71.62 | 70.60
ML-MKL-SA  | 73.60 | 72.91 | 71.95 | 70.88
AVG-MLR    | 75.26 | 74.23 | 73.71 | 72.75
MK-MLR     | 75.26 | 74.40 | 73.70 | 72.91
"""),
        experiment="shared_kernels",
    ),
    Table(
        "mk-mlr-table6.5",
        "table 6.5",
        "Category AUC (%) on ESP Game, 200 labels, 1,000 to 10,000 training pictures.",
        IN_PART,
        "ESP Game is not at hand with its 186 kernels; ours are 1,000 photographs of Corel5k with 50 labels "
        "and 21 kernels, and yeast, one setting each, so that nothing grows along the columns.",
        Figures.read("""
           | 1,000 | 2,500 | 5,000 | 10,000
SK-SVM     | 67.45 | 69.85 | 70.13 | 70.01
SK-MLR     | 68.14 | 70.71 | 71.02 | 70.85
AVG-SVM    | 72.09 | 75.43 | 77.71 | 79.11
MKL-L1     | 72.27 | 75.60 | 77.57 | 79.36
MKL-L2     | 72.40 | 75.78 | 77.92 | 80.23
ML-MKL-Sum | 72.69 | 76.05 | 78.03 | 80.56
ML-MKL-SA  | 72.85 | 76.33 | 78.87 | 81.02
AVG-MLR    | 72.62 | 76.11 | 78.27 | 80.90
MK-MLR     | 74.12 | 77.58 | 79.48 | 81.61
"""),
        experiment="shared_kernels",
    ),
    Table(
        "mk-mlr-table6.6",
        "table 6.6",
        "Image AUC (%) on ESP Game, 200 labels, 1,000 to 10,000 training pictures.",
        IN_PART,
        "ESP Game is not at hand with its 186 kernels; ours are 1,000 photographs of Corel5k with 50 labels "
        "and 21 kernels, and yeast, one setting each, so that nothing grows along the columns.",
        Figures.read("""
           | 1,000 | 2,500 | 5,000 | 10,000
SK-SVM     | 75.97 | 76.68 | 78.31 | 78.69
SK-MLR     | 79.95 | 80.41 | 82.49 | 83.27
AVG-SVM    | 80.41 | 82.05 | 84.21 | 84.82
MKL-L1     | 80.52 | 82.06 | 84.01 | 84.99
MKL-L2     | 80.78 | 81.23 | 84.36 | 85.01
ML-MKL-Sum | 80.79 | 82.21 | 83.07 | 83.86
ML-MKL-SA  | 80.93 | 82.79 | 83.82 | 84.80
AVG-MLR    | 82.25 | 84.10 | 85.35 | 86.05
MK-MLR     | 83.08 | 84.93 | 85.87 | 86.45
"""),
        experiment="shared_kernels",
    ),
    Table(
        "mk-mlr-table6.7",
        "table 6.7",
        "Category AUC (%) on MIR Flickr, 200 labels, 500 to 12,500 training pictures.",
        IN_PART,
        "MIR Flickr is not at hand with its 186 kernels; ours are 1,000 photographs of Corel5k with 50 "
        "labels and 21 kernels, and yeast, one setting each, so that nothing grows along the columns.",
        Figures.read("""
           | 500   | 1,250 | 6,200 | 12,500
SK-SVM     | 59.72 | 62.23 | 63.75 | 64.51
SK-MLR     | 60.31 | 62.41 | 64.19 | 64.97
AVG-SVM    | 60.46 | 64.02 | 66.93 | 67.85
MKL-L1     | 61.14 | 64.93 | 66.96 | 68.34
MKL-L2     | 60.76 | 64.32 | 67.24 | 68.59
ML-MKL-Sum | 62.20 | 65.71 | 67.93 | 69.23
ML-MKL-SA  | 62.21 | 65.78 | 68.21 | 69.61
AVG-MLR    | 61.11 | 65.02 | 68.35 | 69.97
MK-MLR     | 63.06 | 66.89 | 68.85 | 70.33
"""),
        experiment="shared_kernels",
    ),
    Table(
        "mk-mlr-table6.8",
        "table 6.8",
        "Image AUC (%) on MIR Flickr, 200 labels, 500 to 12,500 training pictures.",
        IN_PART,
        "MIR Flickr is not at hand with its 186 kernels; ours are 1,000 photographs of Corel5k with 50 "
        "labels and 21 kernels, and yeast, one setting each, so that nothing grows along the columns.",
        Figures.read("""
           | 500   | 1,250 | 6,250 | 12,500
SK-SVM     | 63.89 | 64.99 | 65.57 | 67.81
SK-MLR     | 64.76 | 67.83 | 68.21 | 69.12
AVG-SVM    | 65.06 | 68.26 | 71.10 | 71.80
MKL-L1     | 66.11 | 69.29 | 71.53 | 71.99
MKL-L2     | 65.40 | 68.59 | 70.94 | 71.86
ML-MKL-Sum | 67.13 | 70.12 | 71.62 | 72.13
ML-MKL-SA  | 67.16 | 70.18 | 71.95 | 72.54
AVG-MLR    | 66.40 | 68.84 | 73.71 | 75.26
MK-MLR     | 68.12 | 70.93 | 73.70 | 75.91
"""),
        experiment="shared_kernels",
    ),
    Table(
        "mk-mlr-table6.9",
        "table 6.9",
        "Share of kernels without a weight and of coefficients that are zero (%), and seconds of "
        "prediction, ESP Game, 5,000 training pictures, 200 labels.",
        IN_PART,
        "ESP Game with its 186 kernels is not at hand, and our seconds are for all test samples without the "
        "features. That one-vs-all L1 needs all kernels once all labels are asked, and shared weights do "
        "not, holds; our weights are less sparse by far.",
        Figures.read("""
           | weights, each label | coefficients | seconds, one label | seconds, all
AVG-SVM    | 0                   | 60.55        | 10.71              | 11.38
MKL-L1     | 87.77               | 61.72        | 3.74               | 10.76
MKL-L2     | 0                   | 59.53        | 5.31               | 11.30
ML-MKL-Sum | 77.42               | 57.88        | 5.31               | 5.58
ML-MKL-SA  | 11.29               | 60.81        | 10.69              | 11.33
MK-MLR     | 76.88               | 47.11        | 4.94               | 5.11
"""),
        experiment="shared_kernels",
    ),
    Table(
        "mk-mlr-figure6.1",
        "figure 6.1",
        "Recall over the number of tags that are given, ESP Game.",
        IMPOSSIBLE,
        "A drawing without numbers, of data that are not at hand.",
    ),
    Table(
        "mk-mlr-figure6.2",
        "figures 6.2, 6.3, 6.4, 6.5",
        "Training time over labels and over samples, ESP Game.",
        IN_PART,
        "Drawings without numbers. That MK-MLR is faster than one-vs-all MKL and slower than ML-MKL-Sum "
        "holds; that ML-MKL-SA is the fastest does not.",
        experiment="shared_kernels",
    ),
)
