//! References: exact fractions and mpmath 1.4 at 40 digits. The first two rows are the smokers of R's
//! `?prop.trend.test`: X² = 8.2249, p = 0.004132; with scores 0, 0, 0, 1: X² = 12.173, p = 0.0004848.

use super::{TrendGroup, cochran_armitage};
use crate::stats::closeness::assert_close;

fn groups(rows: &[(f64, u64, u64)]) -> Vec<TrendGroup> {
    rows.iter().map(|row| TrendGroup { score: row.0, successes: row.1, trials: row.2 }).collect()
}

#[test]
fn the_smokers_and_a_growing_share_agree_with_exact_fractions() {
    let smokers = [(1.0, 83, 86), (2.0, 90, 93), (3.0, 129, 136), (4.0, 70, 82)];
    let last_alone = [(0.0, 83, 86), (0.0, 90, 93), (0.0, 129, 136), (1.0, 70, 82)];
    let growing = [(0.0, 2, 100), (1.0, 5, 90), (2.5, 9, 80), (7.0, 20, 70)];
    for (rows, z, p_value) in [
        (smokers, -2.8679125309530757, 0.004131897477641565),
        (last_alone, -3.489003614320318, 0.0004848245934416773),
        (growing, 5.843176946231529, 5.121456620301467e-09),
    ] {
        let test = cochran_armitage(&groups(&rows)).unwrap();
        assert_close(test.z, z, 1e-12);
        assert_close(test.p_value, p_value, 1e-11);
    }
}

/// Shifting and stretching the scores changes nothing, and neither does a group without trials.
#[test]
fn the_unit_of_the_scores_does_not_matter() {
    let plain = cochran_armitage(&groups(&[(0.0, 2, 10), (1.0, 5, 10), (2.0, 9, 12)])).unwrap();
    let scaled = [(1e6, 2, 10), (1e6 + 3.0, 5, 10), (5.0, 0, 0), (1e6 + 6.0, 9, 12)];
    assert_close(cochran_armitage(&groups(&scaled)).unwrap().z, plain.z, 1e-9);
}

#[test]
fn no_variation_gives_no_test() {
    for rows in [
        vec![],
        vec![(1.0, 0, 0)],
        vec![(1.0, 3, 10), (1.0, 4, 10)],
        vec![(0.1, 3, 10), (0.1, 4, 10), (0.1, 1, 3)],
        vec![(1.0, 0, 10), (2.0, 0, 10)],
        vec![(1.0, 10, 10), (2.0, 10, 10)],
        vec![(1.0, 11, 10), (2.0, 3, 10)],
        vec![(f64::NAN, 1, 10), (2.0, 3, 10)],
    ] {
        assert_eq!(cochran_armitage(&groups(&rows)), None);
    }
}
