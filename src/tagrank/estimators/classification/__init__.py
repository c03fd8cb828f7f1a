"""One support vector machine per label."""
