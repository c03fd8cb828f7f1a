"""The experiments, by name: every module of `experiments` is one."""

from tagrank.reproduction.declarations import Experiment

PHOTOGRAPHS = "corel5k_images_260"
_ALL = (
    Experiment(
        "two_way",
        "Nine methods that compare features with labels in one space, or label by label, on the same splits.",
        ("corel5k", "bibtex"),
        "Four fifths of the samples for training and one fifth for the test, in which each label keeps its "
        "share (seed 0). Linear kernels, one-vs-all with an intercept. Parameters over the space of the "
        "method's entry by halving, by micro F on two folds of the training part (of MNMF the dimensions "
        "are those that the paper "
        "prints); one threshold for all labels, the best by micro F on the held-out scores of five folds.",
        minutes=40,
    ),
    Experiment(
        "two_way_times",
        "Seconds of the two-way and the online factorization, from loading to the F-measure.",
        ("corel5k", "bibtex"),
        "100 and 300 dimensions, as in table 3; passes as asked, or until a tenth of the training samples, "
        "held out, gets no better. numpy; processor seconds of one core, because the machine was shared.",
        minutes=2,
    ),
    Experiment(
        "set_sizes",
        "Labels, features and samples of the sets of the papers that are at hand.",
        ("corel5k", "bibtex", PHOTOGRAPHS),
        "Counted.",
        minutes=1,
    ),
    Experiment(
        "incomplete_labels",
        "Training labels hidden on purpose: who loses least?",
        (PHOTOGRAPHS, "scene", "yeast", "corel5k", "delicious"),
        "0, 20, 40 and 60 % of the present training labels become absent, each sample keeps one; C by 3-fold "
        "cross-validation (image AUC) on the labels that are left; test labels are complete.",
        minutes=45,
        page="incomplete-labels-results.md",
    ),
    Experiment(
        "growth",
        "Training time as samples and labels grow, beside one-vs-all LIBSVM.",
        ("corel5k", "delicious"),
        "One Gram matrix for all, one core, C = 1; ours to a relative duality gap of 0.001, LIBSVM at its "
        "default tolerance.",
        minutes=8,
        page="growth-results.md",
    ),
    Experiment(
        "kernel_choice",
        "One kernel, their mean or learned weights, with few and many samples, and with kernels of noise.",
        ("mfeat", "emotions", "yeast"),
        "10 to 18 Gaussian kernels, C on a third of the training samples, category MAP on up to 600 test "
        "samples, three draws.",
        minutes=6,
        page="kernel-choice-results.md",
    ),
    Experiment(
        "kernel_solvers",
        "All solvers of several kernels on the same problems: objective, gap, rounds, seconds.",
        ("mfeat", "yeast", "emotions", PHOTOGRAPHS),
        "One label against the rest, hinge loss, C = 10, relative duality gap 0.001 asked of all, one core, "
        "processor seconds.",
        minutes=6,
        page="kernel-solver-results.md",
    ),
    Experiment(
        "shared_kernels",
        "Weights of kernels shared by all labels, or of each label, or none.",
        (PHOTOGRAPHS, "yeast", "delicious"),
        "1,000 training samples, 21 and 10 kernels, C on a third of the training samples by image AUC and "
        "MAP, one core, one draw.",
        minutes=10,
        page="shared-kernel-results.md",
        packages=("himalaya",),
    ),
    Experiment(
        "label_priors",
        "Labels that go together otherwise in the test part than in training: does a prior help?",
        ("rcv1_subset1", "corel16k001", "yeast"),
        "Sets cut in two by how their first label components go together; training mostly from one half, "
        "test and a third part, which gives the prior, mostly from the other; five draws.",
        minutes=20,
        page="prior-results.md",
    ),
    Experiment(
        "joint_svm",
        "Joint SVM on the photographs of Corel5k, and its variants.",
        (PHOTOGRAPHS,),
        "Our own dense SIFT V3H1 and RGB V3H1; everything is chosen on 500 pictures held out of the 4,500 "
        "training pictures; five tags a picture, means over the 260 tags.",
        minutes=10,
        page="joint-svm-results.md",
    ),
    Experiment(
        "pictures",
        "Photographs: every set of features alone and together, and what it costs to compute them.",
        (PHOTOGRAPHS, "coco_multilabel_4k"),
        "LabelRanker; C and a power of the kernel by 3-fold cross-validation (image MAP); five tags a "
        "picture.",
        minutes=40,
        page="picture-results.md",
    ),
    Experiment(
        "comparison",
        "LabelRanker, one-vs-all SVMs and label frequency on public sets with their official parts.",
        ("corel5k", "bibtex", "scene", "yeast", "emotions"),
        "Kernel and C by 3-fold cross-validation on the training part; three rules of prediction.",
        minutes=20,
        page="results.md",
    ),
    Experiment(
        "automatic_choice",
        "What `Annotator()` chooses by itself, against scikit-learn's logistic regression.",
        (
            *("emotions", "scene", "birds", "yeast", "medical", "genbase", "enron", PHOTOGRAPHS),
            *("coco_multilabel_4k", "corel5k", "bibtex", "corel16k001", "rcv1_subset1", "delicious"),
        ),
        "Both choose by the mean of image AUC and MAP on three folds of the training part.",
        minutes=60,
        page="choice-results.md",
    ),
    Experiment(
        "honest_probability",
        "Training tags hidden on purpose: is a probability what it claims, the estimated completeness true?",
        (PHOTOGRAPHS, "yeast", "enron"),
        "0, 40 and 60 % of the training tags are hidden; judged by the complete tags of the test part.",
        minutes=12,
        page="probability-results.md",
    ),
    Experiment(
        "missing_tags",
        "How many tags hidden on purpose does `missing` find? Against cleanlab and label frequency.",
        ("scene", "yeast", "corel5k", PHOTOGRAPHS),
        "20, 40 and 60 % of all tags are hidden; every proposer orders all absent pairs of sample and tag.",
        minutes=40,
        page="missing-results.md",
        packages=("cleanlab",),
    ),
)
EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}
