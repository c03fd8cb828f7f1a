"""The parts of the drawn pictures: a plan says what is in a scene, the painters put it on a canvas."""
