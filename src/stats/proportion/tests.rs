use super::{Proportion, clopper_pearson, newcombe_difference, wilson};
use crate::stats::Level;
use crate::stats::closeness::assert_close;

/// 81 of 263 is Newcombe's example (*Two-sided Confidence Intervals for the Single Proportion*, 1998, table I, method
/// 3: 0.2553 to 0.3662); all rows: Wilson's formula in mpmath 1.4 at 40 digits, equal to
/// `statsmodels.stats.proportion.proportion_confint(x, n, alpha, method="wilson")`.
#[test]
fn wilson_intervals_agree_with_newcombe_and_statsmodels() {
    let ninety = Level::NINETY;
    let ninety_five = Level::NINETY_FIVE;
    let ninety_nine = Level::NINETY_NINE;
    for (successes, trials, level, lower, upper) in [
        (12, 530, ninety_five, 0.012998449771697373, 0.039154597468579765),
        (0, 20, ninety_five, 0.0, 0.16112515805281932),
        (20, 20, ninety_five, 0.8388748419471806, 1.0),
        (81, 263, ninety_five, 0.2552885198782742, 0.36620957698280004),
        (15, 148, ninety, 0.06744326224687144, 0.1495729317464003),
        (1, 100_000, ninety_nine, 1.1740557298708434e-06, 8.516918149582939e-05),
    ] {
        let interval = wilson(successes, trials, level).unwrap();
        assert_close(interval.lower, lower, 1e-12);
        assert_close(interval.upper, upper, 1e-12);
    }
}

/// Bisection of `mp.betainc(a, b, 0, x, regularized=True)` on ln x (mpmath 1.4, 40 digits), equal to within its tolerance
/// of 1e-12, absolute, to `scipy.stats.binomtest(x, n).proportion_ci(level, "exact")`. 0 of 20 and 1 of 100,000 have
/// the closed forms 1 − 0.025^(1/20) and, below, 1 − 0.995^(1/100,000).
#[test]
fn clopper_pearson_intervals_agree_with_forty_digits() {
    let ninety = Level::NINETY;
    let ninety_five = Level::NINETY_FIVE;
    let ninety_nine = Level::NINETY_NINE;
    for (successes, trials, level, lower, upper) in [
        (12, 530, ninety_five, 0.011752648089341369, 0.03921591430233929),
        (0, 20, ninety_five, 0.0, 0.16843347098308534),
        (20, 20, ninety_five, 0.8315665290169146, 1.0),
        (81, 263, ninety_five, 0.25273674558527115, 0.36762192260135135),
        (15, 148, ninety, 0.06351844881935094, 0.15176837024062823),
        (1, 100_000, ninety_nine, 5.0125416979164066e-08, 7.429890621390487e-05),
    ] {
        let interval = clopper_pearson(successes, trials, level).unwrap();
        assert_close(interval.lower, lower, 1e-12);
        assert_close(interval.upper, upper, 1e-12);
    }
}

#[test]
fn no_trials_or_too_many_successes_give_no_interval() {
    for (successes, trials) in [(0, 0), (3, 2)] {
        assert_eq!(wilson(successes, trials, Level::NINETY_FIVE), None);
        assert_eq!(clopper_pearson(successes, trials, Level::NINETY_FIVE), None);
        assert_eq!(Proportion::new(successes, trials), None);
    }
}

/// The first five rows are examples of Newcombe 1998, table II, method 10: 0.0524 to 0.3339,
/// 0.1705 to 0.8090, −0.0381 to 0.1926, −0.1611 to 0.2775, 0.6791 to 1; digits by mpmath 1.4, equal to
/// `statsmodels.stats.proportion.confint_proportions_2indep(..., method="newcomb", compare="diff")`.
#[test]
fn newcombe_intervals_agree_with_his_paper() {
    for (x1, n1, x2, n2, lower, upper) in [
        (56, 70, 48, 80, 0.052431472402364905, 0.33387265403690597),
        (9, 10, 3, 10, 0.17052272393450296, 0.809017973535488),
        (5, 56, 0, 29, -0.03813714790353687, 0.1925600138551116),
        (0, 10, 0, 20, -0.16112515805281932, 0.2775327998628892),
        (10, 10, 0, 20, 0.6790860371419147, 1.0),
        (12, 530, 300, 12_000, -0.012442420251189995, 0.014365097491077438),
    ] {
        let first = Proportion::new(x1, n1).unwrap();
        let second = Proportion::new(x2, n2).unwrap();
        let interval = newcombe_difference(first, second, Level::NINETY_FIVE);
        assert_close(interval.lower, lower, 1e-12);
        assert_close(interval.upper, upper, 1e-12);
        assert!(interval.contains(first.value() - second.value()));
    }
}
