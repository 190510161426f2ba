//! References: an independent ChaCha8 in Python, written from RFC 8439 section 2.3 with 8 rounds, a 64-bit counter and
//! a 64-bit stream number; words are paired little-endian. The all-zero key begins with the bytes 3e 00 ef 2f of
//! the eSTREAM test vector for 8 rounds and 256-bit keys.

use super::SeededRng;
use crate::stats::closeness::assert_close;

#[test]
fn the_stream_is_chacha_with_eight_rounds() {
    let mut zero = SeededRng::new(0);
    assert_eq!(zero.next_u64(), 0xd640_5f89_2fef_003e);
    assert_eq!(zero.next_u64(), 0xa1a5_091f_e8b8_5b7f);
    let mut rng = SeededRng::new(42);
    let words: Vec<u64> = (0..10).map(|_| rng.next_u64()).collect();
    assert_eq!(words[..3], [0x5927_3471_198f_a887, 0x4923_8aa4_169d_f72b, 0x7e54_361f_64fc_90f6]);
    assert_eq!(words[9], 0xcc52_bc11_4091_ca52);
}

#[test]
fn forks_depend_on_key_and_label_alone() {
    let mut parent = SeededRng::new(42);
    let mut early = parent.fork(7);
    parent.next_u64();
    let mut late = parent.fork(7);
    assert_eq!(early.next_u64(), 0x447d_ee5e_b929_5d25);
    assert_eq!(early.next_u64(), 0x7ae7_6bea_7ccc_82f3);
    assert_eq!(late.next_u64(), 0x447d_ee5e_b929_5d25);
    assert_eq!(parent.fork(0).next_u64(), 0xcea5_2ba1_4fbf_6ed8);
    assert_eq!(parent.fork(7).fork(7).next_u64(), 0x551b_9800_e237_0468);
}

/// The first word of seed 42, as fractions; the normal deviate by `mp.sqrt(2)*mp.erfinv(2*u - 1)`.
#[test]
fn uniform_and_normal_numbers_follow_from_the_bits() {
    assert_eq!(SeededRng::new(42).uniform(), 0.3482544685480763);
    assert_eq!(SeededRng::new(42).uniform_open(), 0.3482544685480763);
    assert_close(SeededRng::new(42).standard_normal(), -0.39003733833589227, 1e-14);
}

#[test]
fn ranges_are_unbiased_and_bounded() {
    let mut rng = SeededRng::new(42);
    let digits: Vec<Option<u64>> = (0..8).map(|_| rng.below(10)).collect();
    assert_eq!(digits, [3, 2, 4, 3, 8, 0, 4, 2].map(Some));
    assert_eq!(rng.below(0), None);
    assert_eq!(rng.below(1), Some(0));
    assert_eq!(rng.choose::<u8>(&[]), None);
    let mut tally = [0_u32; 3];
    for _ in 0..30_000 {
        tally[rng.below(3).unwrap() as usize] += 1;
    }
    // Five standard deviations, √(30000·⅓·⅔) = 82 each.
    assert!(tally.iter().all(|count| count.abs_diff(10_000) < 410), "{tally:?}");
    // The bound that rejects most often: a third of all words.
    let bound = (u64::MAX / 3) * 2;
    assert!((0..100).all(|_| rng.below(bound).unwrap() < bound));
}

#[test]
fn uniform_between_stays_below_its_end() {
    let mut rng = SeededRng::new(1);
    for _ in 0..1000 {
        let value = rng.uniform_between(0.5, 2.0);
        assert!((0.5..2.0).contains(&value));
    }
    assert_eq!(rng.uniform_between(3.0, 3.0), 3.0);
    assert!(!rng.chance(0.0) && rng.chance(1.0));
}

#[test]
fn the_normal_deviates_have_mean_zero_and_variance_one() {
    let mut rng = SeededRng::new(5);
    let draws: Vec<f64> = (0..20_000).map(|_| rng.standard_normal()).collect();
    let mean = draws.iter().sum::<f64>() / 20_000.0;
    let variance = draws.iter().map(|draw| draw * draw).sum::<f64>() / 20_000.0;
    // Five standard errors: 1/√20000 and √(2/20000).
    assert!(mean.abs() < 0.036, "{mean}");
    assert!((variance - 1.0).abs() < 0.05, "{variance}");
}
