//! Bins are few, and nothing falls out of them.

use super::{DELAY_ENDS, FILL_ENDS, TIME_BINS, band_of, over_time};

#[test]
fn every_failure_stands_in_one_bin_and_the_bins_stay_few() {
    for length in [0, 59_000, 3_600_000 * 7, 86_400_000 * 400, i64::MAX / 4] {
        let failures = (0..=20).map(|i| (["A", "B"][i as usize % 2], Some(1_700_000_000_000 + length / 20 * i)));
        let series = over_time(failures).series;
        let bins = series[0].1.len();
        assert!(bins as i64 <= TIME_BINS, "{length}: {bins} bins");
        assert_eq!(series.iter().flat_map(|s| &s.1).sum::<u64>(), 21, "{length}");
    }
    let untimed = over_time([("A", None)].into_iter());
    assert_eq!((untimed.untimed, untimed.series.len()), (1, 0));
}

#[test]
fn codes_beyond_the_fifth_are_one_series() {
    let codes: Vec<String> = (0..8).map(|i| format!("CODE_{i}")).collect();
    let series = over_time(codes.iter().map(|code| (code.as_str(), Some(0)))).series;
    assert_eq!(series.len(), 6);
    assert_eq!((series[5].0.as_deref(), series[5].1.as_slice()), (None, [3].as_slice()));
}

#[test]
fn bands_have_no_gap() {
    assert_eq!([0.0, 0.1, 0.1001, 0.95, 1.0, 1.001, 40.0].map(|v| band_of(&FILL_ENDS, v)), [0, 0, 1, 9, 9, 10, 10]);
    assert_eq!([0.5, 1.0, 59.9, 60.0, 1e6].map(|v| band_of(&DELAY_ENDS, v)), [0, 0, 5, 5, 7]);
}
