//! References: exact `fractions.Fraction` sums for the p-values, equal to `scipy.stats.fisher_exact`; bisection with
//! mpmath 1.4 at 40 digits for the odds ratios, equal to within its 1e-9 to
//! `scipy.stats.contingency.odds_ratio(table).confidence_interval(level)`. The tea table and the twins' convictions are
//! in R's `?fisher.test`, which prints for tea, greater: p = 0.2429, interval from 0.3136 (our lower bound at 90 %), ratio
//! 6.408; for the twins, less: p = 0.0004652, ratio 0.0469.

use super::{FisherTest, Table, fisher_exact, odds_ratio};
use crate::stats::Level;
use crate::stats::closeness::assert_close;

const TEA: Table = table(3, 1, 1, 3);
const TWINS: Table = table(2, 10, 15, 3);
const NONE_EXPOSED: Table = table(0, 5, 4, 6);
const ALL_EXPOSED: Table = table(5, 0, 1, 4);
const LARGE: Table = table(12, 1500, 518, 60_000);

const fn table(a: u64, b: u64, c: u64, d: u64) -> Table {
    Table { exposed_events: a, exposed_rest: b, unexposed_events: c, unexposed_rest: d }
}

#[test]
fn p_values_agree_with_exact_fractions() {
    for (table, two_sided, mid_p, less, greater) in [
        (TEA, 0.4857142857142857, 0.37142857142857144, 0.9857142857142858, 0.24285714285714285),
        (TWINS, 0.0005367241191434358, 0.0003118741381189105, 0.00046518094336290503, 0.9999845190186861),
        (NONE_EXPOSED, 0.23076923076923078, 0.15384615384615385, 0.15384615384615385, 1.0),
        (ALL_EXPOSED, 0.047619047619047616, 0.03571428571428571, 1.0, 0.023809523809523808),
        (table(1, 9, 11, 3), 0.0027594561852200836, 0.0020864180912639656, 0.0013797280926100418, 0.9999663480953022),
        (
            table(12, 300, 30, 200),
            0.0001267781133492079,
            9.842319318690239e-05,
            7.538516722086389e-05,
            0.9999813246731037,
        ),
        (LARGE, 1.0, 0.9439007161669144, 0.47036100849528506, 0.6418375591708863),
    ] {
        let test = fisher_exact(table);
        assert_close(test.two_sided, two_sided, 1e-11);
        assert_close(test.mid_p, mid_p, 1e-11);
        assert_close(test.less, less, 1e-11);
        assert_close(test.greater, greater, 1e-11);
    }
}

#[test]
fn odds_ratios_agree_with_forty_digits() {
    let ninety_five = Level::NINETY_FIVE;
    for (table, level, estimate, lower, upper) in [
        (TEA, ninety_five, Some(6.408319658199674), 0.21173559544657866, Some(626.2435305888134)),
        (TEA, Level::NINETY, Some(6.408319658199674), 0.3135737675049851, Some(306.23680785863894)),
        (TWINS, ninety_five, Some(0.046936639049679964), 0.003317163950657363, Some(0.36318960235668046)),
        (NONE_EXPOSED, ninety_five, Some(0.0), 0.0, Some(2.879471751872135)),
        (ALL_EXPOSED, ninety_five, None, 1.0247975520470547, None),
        (table(12, 300, 30, 200), ninety_five, Some(0.2673190470969508), 0.12160946895460337, Some(0.5529005133592451)),
        (LARGE, ninety_five, Some(0.9266420251439577), 0.47460579313815004, Some(1.637569251211725)),
    ] {
        let ratio = odds_ratio(table, level).unwrap();
        assert_same(ratio.estimate, estimate);
        assert_close(ratio.lower, lower, 1e-10);
        assert_same(ratio.upper, upper);
    }
}

#[test]
fn a_table_with_an_empty_margin_says_nothing() {
    let empty = table(0, 5, 0, 7);
    let certain = FisherTest { two_sided: 1.0, mid_p: 0.5, less: 1.0, greater: 1.0 };
    assert_eq!(fisher_exact(empty), certain);
    assert_eq!(odds_ratio(empty, Level::NINETY_FIVE), None);
    assert_eq!(odds_ratio(table(0, 0, 0, 0), Level::NINETY_FIVE), None);
    assert_eq!(fisher_exact(table(0, 0, 3, 4)).two_sided, 1.0);
}

/// Exchanging the rows turns the odds ratio over.
#[test]
fn exchanged_rows_give_the_reciprocal() {
    let forward = odds_ratio(TWINS, Level::NINETY_FIVE).unwrap();
    let backward = odds_ratio(table(15, 3, 2, 10), Level::NINETY_FIVE).unwrap();
    assert_close(forward.estimate.unwrap() * backward.estimate.unwrap(), 1.0, 1e-12);
    assert_close(forward.lower * backward.upper.unwrap(), 1.0, 1e-12);
    assert_close(fisher_exact(table(15, 3, 2, 10)).two_sided, fisher_exact(TWINS).two_sided, 1e-12);
}

#[track_caller]
fn assert_same(actual: Option<f64>, expected: Option<f64>) {
    match (actual, expected) {
        (Some(actual), Some(expected)) => assert_close(actual, expected, 1e-10),
        _ => assert_eq!(actual, expected),
    }
}
