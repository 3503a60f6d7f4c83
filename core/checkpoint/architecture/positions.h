#pragma once

#include "core/tensor/relative_rows.h"

#include <cstdint>
#include <vector>

namespace headscope::checkpoint {

/// How rotary frequencies were stretched for longer texts.
struct RopeScaling {
    enum class Kind : std::uint8_t {
        none,
        linear,  ///< every frequency divided by factor
        llama3,  ///< low frequencies divided by factor, high ones kept, in between a blend
        dynamic, ///< as none up to max_positions tokens; beyond, the base grows with their number
        yarn,    ///< as llama3, the blend told by turns within original_max_positions tokens
        longrope ///< each frequency divided by a number of its own, by whether the text is long
    };
    Kind kind = Kind::none;
    double factor = 1.0;
    double low_freq_factor = 1.0;
    double high_freq_factor = 4.0;
    double original_max_positions = 8192.0;
    double beta_fast = 32.0, beta_slow = 1.0; ///< yarn: from how many turns on kept, up to how many divided
    bool whole_pairs = true;                  ///< yarn: the blend begins and ends at whole pairs
    double attention_factor = 1.0;            ///< multiplies cosines and sines
    std::vector<double> short_factors, long_factors; ///< longrope, rotary_width/2 each: up to
                                                     ///< original_max_positions tokens and beyond
};

/// One set of rotary angles.
struct Rope {
    double theta = 10000.0; ///< the base, above 0
    RopeScaling scaling;
};

enum class RotaryPairs : std::uint8_t {
    halves,    ///< numbers c and c + rotary_width/2 of a head turn together
    neighbours ///< numbers 2c and 2c + 1
};

/// The factor of queries in layers without rotary positions: 1 + factor ln(1 + floor((position + 1)
/// / span)), so that attention stays sharp in long texts (Nakanishi 2025, "Scalable-Softmax Is Superior for
/// Attention"). Positions count every token from 0 on.
struct QueryScale {
    double factor = 0.1;
    std::int64_t span = 8192; ///< tokens, at least 1
    bool operator==(const QueryScale&) const = default;
    double at(std::int64_t position) const;
};

/// A position table that is computed: each row has the sines of D/2 angles, then their cosines. Angle c of
/// row t is t times a frequency.
enum class Sinusoids : std::uint8_t {
    none,
    by_width, ///< 10000^(-2c/D), as Marian (Vaswani et al. 2017, section 3.5)
    to_last   ///< 10000^(-c/(D/2 - 1)), as tensor2tensor and fairseq; the row pad_id has zeros
};

/// What the rows of the position table count.
enum class PositionCount : std::uint8_t {
    every_token,       ///< 0 .. T-1, whatever the padding
    other_than_pad_id, ///< tokens whose id is not pad_id; those get row position_offset - 1
    real_tokens        ///< tokens of the attention mask; the others get row position_offset - 1
};

/// Press et al. 2022, "Train Short, Test Long": a slope per head times the key's place among the real tokens.
enum class Alibi : std::uint8_t {
    none,
    after_scale,          ///< added to the scaled scores
    before_scale_bfloat16 ///< rounded to bfloat16 and added to the scores
};

/// The buckets of distances between a key and a query, see graph::DistanceBias (Raffel et al. 2020,
/// "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer").
struct DistanceBuckets {
    std::int64_t count = 32;     ///< rows of the table of biases; at least 2, in an encoder 4
    std::int64_t furthest = 128; ///< distances from here on share the last bucket
    bool both_sides = false;     ///< half of the buckets are for keys behind the query; else those share 0
};

/// Vectors of relative positions that queries and keys read (He et al. 2021, "DeBERTa"). At least one of both
/// terms is there.
struct RelativeAttention {
    RelativeRows rows;
    bool c2p = false, p2c = false; ///< queries times keys of positions; keys times queries of positions
};

} // namespace headscope::checkpoint
