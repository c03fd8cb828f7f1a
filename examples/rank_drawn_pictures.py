"""Rank the tags of drawn pictures on a page that shows them: python rank_drawn_pictures.py [page.html]"""

import sys

from tagrank.annotation import Annotator
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.metrics import metric_table, per_label_table
from tagrank.reports.report import MethodResult, ReportPicture, write_report

page = sys.argv[1] if len(sys.argv) > 1 else "ranked_pictures.html"

pictures = draw_pictures(200, random_state=1)
annotator = Annotator().fit(pictures.train)

test = pictures.test
scores, predicted = annotator.scores(test), annotator.predict(test)
ranked = annotator.annotate(test)
print(ranked[0].name, ranked[0].top(5).tags)

write_report(
    page,
    title="Tags of drawn pictures",
    methods=[MethodResult("Annotator", metric_table(test.Y, scores, predicted))],
    pictures=[
        ReportPicture(
            name=row.name,
            true_tags=[tag for tag, present in zip(test.tags, labels, strict=True) if present],
            predicted=[(tag, score, probability) for tag, score, probability, given in row if given],
            image=image,
        )
        for row, labels, image in zip(ranked[:12], test.Y, test.view("pictures"), strict=False)
    ],
    per_tag=per_label_table(test.Y, scores, predicted, tags=test.tags),
)
print(f"open {page}")
