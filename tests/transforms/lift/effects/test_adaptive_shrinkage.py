"""Small effects are drawn together, large ones stay."""

import numpy as np

from slowwave.transforms.lift.effects.adaptive_shrinkage import draw_together


def estimates(truth: np.ndarray, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Estimates of these true effects, and their errors."""
    return truth + np.random.default_rng(4).normal(0, error, len(truth)), np.full(len(truth), error)


def test_few_large_effects_stay_large_among_many_small_ones() -> None:
    truth = np.zeros(100)
    truth[:3] = (0.4, -0.4, 0.5)
    seen, error = estimates(truth, 0.05)
    drawn = draw_together(seen, error)
    assert (np.abs(drawn[:3]) > 0.85 * np.abs(seen[:3])).all()
    assert np.abs(drawn[3:]).mean() < 0.35 * np.abs(seen[3:]).mean()


def test_what_all_have_in_common_is_kept() -> None:
    drawn = draw_together(*estimates(np.full(200, 0.15), 0.05))
    assert abs(drawn.mean() - 0.15) < 0.01
    assert drawn.std() < 0.02


def test_drawing_together_brings_estimates_nearer_to_the_truth() -> None:
    truth = np.where(np.arange(300) % 10 == 0, 0.2, 0.0)
    seen, error = estimates(truth, 0.07)
    drawn = draw_together(seen, error)
    assert ((drawn - truth) ** 2).mean() < 0.5 * ((seen - truth) ** 2).mean()


def test_one_alone_is_drawn_towards_nothing() -> None:
    seen, error = np.array([0.1]), np.array([0.1])
    assert 0 <= draw_together(seen, error)[0] < 0.05
    assert len(draw_together(seen[:0], error[:0])) == 0
