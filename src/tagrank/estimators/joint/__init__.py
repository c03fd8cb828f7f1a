"""One support vector machine for all labels together."""
