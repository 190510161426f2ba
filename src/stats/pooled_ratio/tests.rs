use super::{ScanUnit, pooled_rate_ratio};
use crate::stats::{Level, SeededRng};

fn unit(stratum: usize, cluster: usize, exposed: bool, events: u64, trials: u64) -> ScanUnit {
    ScanUnit { stratum, cluster, exposed, events, trials }
}

/// By hand: strata (4 of 10 against 2 of 20) and (6 of 30 against 3 of 30):
/// (4·20/30 + 6·30/60)/(2·10/30 + 3·30/60) = (8/3 + 3)/(2/3 + 3/2) = 34/13.
#[test]
fn the_ratio_is_that_of_mantel_and_haenszel() {
    let units = [unit(0, 0, true, 4, 10), unit(0, 1, false, 2, 20), unit(1, 2, true, 6, 30), unit(1, 3, false, 3, 30)];
    let pooled = pooled_rate_ratio(&units, Level::NINETY_FIVE).unwrap();
    assert!((pooled.estimate.unwrap() - 34.0 / 13.0).abs() < 1e-12, "{pooled:?}");
    assert_eq!(pooled.clusters, (2, 2));
}

/// By hand: three clusters of 10 exposed and 10 other trials. θ = ln 2; without a cluster: ln 2, ln(7/3), ln(5/3).
#[test]
fn the_interval_is_that_of_the_jackknife() {
    let counts = [(4, 2), (3, 2), (5, 2)];
    let units: Vec<ScanUnit> = counts
        .iter()
        .enumerate()
        .flat_map(|(c, (a, b))| [unit(0, c, true, *a, 10), unit(0, c, false, *b, 10)])
        .collect();
    let pooled = pooled_rate_ratio(&units, Level::NINETY_FIVE).unwrap();
    let theta = 2.0_f64.ln();
    let leave = [(8.0_f64 / 4.0).ln(), (9.0_f64 / 4.0).ln(), (7.0_f64 / 4.0).ln()];
    let deviation = (leave.iter().map(|l| (l - theta).powi(2)).sum::<f64>() * 2.0 / 3.0).sqrt();
    // Student's t with 2 degrees of freedom: 4.302652729911275 (scipy.stats.t.ppf(0.975, 2)).
    let upper = (theta + 4.302652729911275 * deviation).exp();
    assert!((pooled.interval.unwrap().upper / upper - 1.0).abs() < 1e-9, "{pooled:?} against {upper}");
}

#[test]
fn one_exposed_cluster_has_no_interval() {
    let units = [unit(0, 0, true, 9, 10), unit(0, 1, false, 1, 50), unit(0, 2, false, 1, 50)];
    let pooled = pooled_rate_ratio(&units, Level::NINETY_FIVE).unwrap();
    assert_eq!((pooled.interval, pooled.p_value), (None, None));
    assert!(pooled.estimate.unwrap() > 10.0);
}

#[test]
fn no_event_among_the_others_is_an_infinite_ratio_with_a_lower_bound() {
    let units: Vec<ScanUnit> =
        (0..12).flat_map(|c| [unit(0, c, true, 3 + c as u64 % 2, 10), unit(0, c, false, 0, 10)]).collect();
    let pooled = pooled_rate_ratio(&units, Level::NINETY_FIVE).unwrap();
    assert_eq!(pooled.estimate, None);
    assert!(pooled.interval.unwrap().lower > 5.0, "{pooled:?}");
}

/// Bursts inside clusters that have nothing to do with the exposure: 400 archives, at most 5 % false alarms and some.
#[test]
fn bursts_inside_clusters_raise_no_false_alarm() {
    let mut alarms = 0;
    for seed in 0..400 {
        let mut rng = SeededRng::new(seed);
        let units: Vec<ScanUnit> = (0..24)
            .map(|cluster| {
                let rate = if rng.chance(0.3) { 0.5 } else { 0.02 };
                let events = (0..40).filter(|_| rng.chance(rate)).count() as u64;
                unit(0, cluster, cluster % 2 == 0, events, 40)
            })
            .collect();
        let pooled = pooled_rate_ratio(&units, Level::NINETY_FIVE).unwrap();
        alarms += u32::from(pooled.p_value.is_some_and(|p| p < 0.05));
    }
    assert!(alarms <= 28, "{alarms} of 400");
}
