"""Quality against the time that features take: python cheap_features.py [plot.svg]

The weights of several sets of features are learned, with what each set costs for a new picture; the stronger
costs count, the fewer and the cheaper are the sets that a model reads.
"""

import sys

from tagrank import MultipleKernelRanker, choose_features, describe_pictures, draw_pictures, image_auc
from tagrank.kernels import make_kernel

plot = sys.argv[1] if len(sys.argv) > 1 else "cheap_features.svg"

features = choose_features(["colour", "edges", "gist", "lab_v3h1", "hog", "lbp"])
described = describe_pictures(draw_pictures(240, random_state=0), features)
pictures = described.collection
costs = {name: 1000 * seconds for name, seconds in described.seconds_a_picture.items()}
train, test = pictures.subset(range(160)), pictures.subset(range(160, 240))

model = MultipleKernelRanker(
    C=10,
    kernel=[make_kernel(feature.kernel).on(name) for name, feature in features.items()],
    kernel_costs=costs,
    random_state=0,
)
points = []
for fitted in model.cost_path(train.views, train.Y, [0, 0.3, 1, 3, 10, 100]):
    read = [fitted.kernel_names_[j] for j in fitted.active_kernels_]
    milliseconds = sum(costs[name] for name in read)
    auc = image_auc(test.Y, fitted.decision_function(test.views))
    points.append((milliseconds, auc))
    print(f"strength {fitted.cost_strength:5g}  {milliseconds:5.1f} ms  AUC {auc:.3f}  {', '.join(read)}")

slowest = max(milliseconds for milliseconds, _ in points)
lowest, highest = min(auc for _, auc in points), max(auc for _, auc in points)


def place(milliseconds, auc):
    """Pixels from the left and from the top."""
    return round(70 + 400 * milliseconds / slowest), round(
        230 - 180 * (auc - lowest) / (highest - lowest or 1)
    )


corners = [place(*point) for point in points]
pieces = [f'<circle cx="{x}" cy="{y}" r="5" fill="#1b6ca8"/>' for x, y in corners]
pieces += [f'<text x="15" y="{place(0, auc)[1]}">{auc:.3f}</text>' for auc in {lowest, highest}]
pieces += [f'<text x="{place(ms, lowest)[0]}" y="255">{ms:.0f}</text>' for ms in (0, slowest)]
line = " ".join(f"{x},{y}" for x, y in corners)
with open(plot, "w", encoding="utf-8") as file:
    file.write(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 570 290" font-family="sans-serif">'
        '<rect width="570" height="290" fill="white"/>'
        '<text x="15" y="22" font-weight="bold">AUC over the time that features take</text>'
        f'<polyline fill="none" stroke="#1b6ca8" stroke-width="2" points="{line}"/>'
        '<text x="180" y="278">milliseconds a picture</text>' + "\n".join(pieces) + "</svg>"
    )
print(f"open {plot}")
