"""The public sets of photographs that the catalog knows; checksums are of the files with their tags."""

from tagrank.data.catalog.dataset_entry import DatasetEntry

_COREL_PHOTOGRAPHS = "https://github.com/ParkByungYoon/corel-5k (db/train, db/test, labels)"
_COREL_FILES = {
    "labels/test_label": "55875da25fa99237b4f49d5c11153250fb2c1b4cf3a8825c61efd764c898880e",
    "labels/training_label": "9588df754114cc8389d5819041be3e579c8f002793413bfa1e81133fd37ba587",
    "labels/words": "e9c5d8f1c299daa81c7599671bbbb3616f5e036f65e1de35952d7bb55c85afe6",
}

PHOTOGRAPHS = (
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
