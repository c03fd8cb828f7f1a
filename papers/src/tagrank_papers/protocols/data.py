"""Data that several benchmarks learn from: drawn ones, and public sets below TAGRANK_DATA."""

import numpy as np
from scipy import sparse

from tagrank.annotation import describe_pictures
from tagrank.annotation.choosing import mean_kernel
from tagrank.annotation.describing import PICTURES
from tagrank.data import Collection, load_dataset, split_collection
from tagrank.features import choose_features, usual_features
from tagrank.kernels import Gaussian

DRAWN = "drawn"
DOCUMENTS = "drawn_documents"
# training and test pictures that are drawn, where a set has many
DRAWN_FROM = {"iaprtc12": (2000, 1000), "voc2006": (2000, 1000)}


def dense(matrix, dtype=np.float64):
    """A plain matrix; with `dtype` None of the numbers it has."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=dtype)


def draw_problem(n_samples=4000, n_labels=100, *, noise=0.5, n_factors=20, n_features=100, seed=0):
    """Gram matrix of rows with hidden factors, and labels that depend on them, each 2 to 10 % positive."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((n_samples, n_factors))
    X = factors @ rng.standard_normal((n_factors, n_features)) + 2 * rng.standard_normal(
        (n_samples, n_features)
    )
    weights = rng.standard_normal((n_factors, n_labels)) / np.sqrt(n_factors)
    signal = factors @ weights + noise * rng.standard_normal((n_samples, n_labels))
    shares = rng.uniform(0.02, 0.10, n_labels)
    limits = np.array([np.quantile(signal[:, label], 1 - shares[label]) for label in range(n_labels)])
    return Gaussian()(X), (signal > limits).astype(float)


def draw_views(n_samples, n_labels, n_kernels, *, n_noise, seed=0):
    """Gaussian Gram matrices (float32) of views of clusters, less and less clear; the last ones are noise.

    Each cluster has about three labels, which a sample of it has with a chance of 0.8.
    """
    rng = np.random.default_rng(seed)
    n_clusters = max(10, n_labels)
    cluster = rng.integers(n_clusters, size=n_samples)
    chances = np.where(rng.random((n_clusters, n_labels)) < 3 / n_labels, 0.8, 0.01)
    Y = (rng.random((n_samples, n_labels)) < chances[cluster]).astype(float)
    signals = np.append(np.linspace(2.0, 0.3, n_kernels - n_noise), np.zeros(n_noise))
    matrices = []
    for signal in signals:
        X = signal * rng.standard_normal((n_clusters, 16))[cluster] + rng.standard_normal((n_samples, 16))
        matrices.append((Gaussian() ** 2)(X).astype(np.float32))
    return matrices, Y


def draw_rows(n_samples, n_labels, *, n_features=6, n_present=3, seed=0):
    """Rows, and labels of which the `n_present` strongest are present."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    strength = X @ rng.normal(size=(n_features, n_labels)) + rng.normal(size=(n_samples, n_labels))
    return X, (strength >= np.sort(strength, axis=1)[:, [-n_present]]).astype(float)


def draw_documents(n_documents=3000, n_tags=150, n_words=3000, *, seed=0):
    """Counts of words, and tags, most of them rare: short and long documents, whose tags are their topics.

    Lengths are log-normal. A third of the words come from the topics of a document, 30 words each, the others
    are of no topic.
    """
    rng = np.random.default_rng(seed)
    common = rng.dirichlet(np.full(n_words, 0.05))
    topics = np.zeros((n_tags, n_words))
    for topic in topics:
        topic[rng.choice(n_words, 30, replace=False)] = rng.dirichlet(np.full(30, 0.5))
    shares = 1 / np.arange(3, n_tags + 3)
    lengths = np.maximum(3, rng.lognormal(3.3, 1.0, n_documents)).astype(int)
    X, Y = sparse.lil_array((n_documents, n_words)), np.zeros((n_documents, n_tags))
    for document, length in enumerate(lengths):
        n_present = 1 + min(rng.poisson(1.2), 5)
        tags = rng.choice(n_tags, n_present, replace=False, p=shares / shares.sum())
        chances = 0.65 * common + 0.35 * rng.dirichlet(np.ones(n_present)) @ topics[tags]
        words, counts = np.unique(rng.choice(n_words, length, p=chances / chances.sum()), return_counts=True)
        X[[document], words], Y[document, tags] = counts, 1
    return X.tocsr(), Y


def read_corel5k():
    """The 4,500 training pictures of Corel5k as 499 binary blobs, with the 371 of its 374 tags that occur."""
    train = load_dataset("corel5k").train
    Y = dense(train.Y)
    return Gaussian()(dense(train.X)), Y[:, Y.any(axis=0)]


def read_photographs():
    """The photographs of Corel5k, 260 words: the mean kernel of the 15 sets of the papers and embeddings."""
    features = choose_features(["papers", "embedding"])
    described = describe_pictures(load_dataset("corel5k_images_260").train, features, cache=True)
    kernel = mean_kernel(described.features)
    return kernel(described.collection.views).astype(np.float64), dense(described.collection.Y)


def read_parts(name):
    """Training part, test part and features of a set; its official parts, or a third held out.

    Pictures are described by what `train` takes, with vocabularies learned from the training part; of rows
    the features are None. The sets "drawn" and "drawn_documents" need no data.
    """
    if name in (DRAWN, DOCUMENTS):
        X, Y = draw_rows(150, 6) if name == DRAWN else draw_documents()
        whole = Collection({"features": X}, Y, name=name)
    else:
        whole = load_dataset(name)
    if whole.part is None or "test" not in whole.part:
        whole = split_collection(whole, test_size=1 / 3, random_state=0)
    if PICTURES not in whole.views:
        return whole.train, whole.test, None
    train, test = draw_some(whole, *DRAWN_FROM.get(name, (None, None)))
    train = describe_pictures(train, choose_features(usual_features()), cache=True)
    test = describe_pictures(test, train.features, cache=True)
    return train.collection, test.collection, train.features


def draw_some(whole, n_train, n_test):
    """So many rows of the training and of the test part, drawn at random; all where the number is None."""
    rng = np.random.default_rng(0)
    return tuple(
        part.subset(np.sort(rng.permutation(len(part))[:n_rows]))
        for part, n_rows in ((whole.train, n_train), (whole.test, n_test))
    )


def join_unit_rows(rows):
    """Words that occur twice in a document become one entry; every row gets length one."""
    rows.sum_duplicates()
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    rows.data /= np.repeat(norms, np.diff(rows.indptr)).astype(rows.dtype)
    return rows
