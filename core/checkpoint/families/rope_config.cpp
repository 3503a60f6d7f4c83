#include "core/checkpoint/families/rope_config.h"

#include "core/base/message.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

using Kind = RopeScaling::Kind;

Kind read_kind(const ConfigReader& settings, bool mrope) {
    const char* key = settings.has("rope_type") ? "rope_type" : "type";
    const std::string name = settings.text(key, "default");
    if (mrope && name == "mrope")
        return Kind::none;
    constexpr std::array<std::pair<std::string_view, Kind>, 7> kinds{
        {{"default", Kind::none},
         {"linear", Kind::linear},
         {"dynamic", Kind::dynamic},
         {"llama3", Kind::llama3},
         {"yarn", Kind::yarn},
         {"longrope", Kind::longrope},
         {"su", Kind::longrope}}}; // as Phi-3 called it first
    for (const auto& [known, kind] : kinds)
        if (name == known)
            return kind;
    settings.refuse(
        key, tr("rope_config.default_linear_dynamic", "default, linear, dynamic, llama3, yarn or longrope"));
}

double needed(const ConfigReader& settings, const char* key) {
    if (!settings.has(key))
        settings.refuse(key, tr("common.number_above_0", "a number above 0"));
    return settings.positive(key, 1.0);
}

void read_llama3(const ConfigReader& settings, RopeScaling& out) {
    out.low_freq_factor = needed(settings, "low_freq_factor");
    out.high_freq_factor = needed(settings, "high_freq_factor");
    if (out.high_freq_factor <= out.low_freq_factor)
        settings.refuse("high_freq_factor", tr("rope_config.above_low_freq_factor", "above low_freq_factor"));
}

/// As in Hugging Face's _compute_yarn_parameters (modeling_rope_utils.py).
void read_yarn(const ConfigReader& settings, double theta, RopeScaling& out) {
    if (theta <= 1.0)
        settings.refuse("rope_theta",
                        tr("rope_config.above_1_yarn_takes", "above 1, as yarn takes its logarithm"));
    out.beta_fast = settings.positive("beta_fast", out.beta_fast);
    out.beta_slow = settings.positive("beta_slow", out.beta_slow);
    out.whole_pairs = settings.flag("truncate", true);
    const auto magnitude = [&](double scale) {
        return out.factor <= 1.0 ? 1.0 : 0.1 * scale * std::log(out.factor) + 1.0;
    };
    const auto given = [&](const char* key) { return settings.number(key).value_or(0.0) != 0.0; };
    const bool both = given("mscale") && given("mscale_all_dim");
    const double usual = both ? magnitude(settings.positive("mscale", 1.0)) /
                                    magnitude(settings.positive("mscale_all_dim", 1.0))
                              : magnitude(1.0);
    out.attention_factor = settings.positive("attention_factor", usual);
}

/// As in Hugging Face's _compute_longrope_parameters (modeling_rope_utils.py, transformers 5): the ratio of
/// lengths stands in for a factor that is not given.
void read_longrope(const ConfigReader& settings, const Architecture& architecture, RopeScaling& out) {
    const double ratio = static_cast<double>(architecture.max_positions) / out.original_max_positions;
    out.factor = settings.positive("factor", ratio);
    const double usual = out.factor <= 1.0 || out.original_max_positions <= 1.0
                             ? 1.0
                             : std::sqrt(1.0 + std::log(out.factor) / std::log(out.original_max_positions));
    out.attention_factor = settings.positive("attention_factor", usual);
    out.short_factors = settings.positives("short_factor", architecture.rotary_width / 2);
    out.long_factors = settings.positives("long_factor", architecture.rotary_width / 2);
}

RopeScaling read_scaling(const ConfigReader& reader, const ConfigReader& settings,
                         const Architecture& architecture, double theta, const RopeKeys& keys) {
    RopeScaling out;
    out.kind = read_kind(settings, keys.mrope);
    // A length among the model's own keys comes before that of the settings, whatever the kind.
    const char* original = "original_max_position_embeddings";
    const bool own_length = reader.has(original) || keys.usual_original > 0;
    out.original_max_positions =
        own_length ? reader.positive(original, keys.usual_original)
                   : settings.positive(original, static_cast<double>(architecture.max_positions));
    if (out.kind == Kind::longrope)
        read_longrope(settings, architecture, out);
    else if (out.kind != Kind::none)
        out.factor = needed(settings, "factor");
    if (out.kind == Kind::llama3)
        read_llama3(settings, out);
    if (out.kind == Kind::yarn)
        read_yarn(settings, theta, out);
    return out;
}

} // namespace

void read_rope(const ConfigReader& reader, const RopeKeys& keys, Architecture& architecture) {
    // Hugging Face turns as much of a head as this key says, even where the family has no width of its own.
    if (reader.size("head_dim", architecture.dk) != architecture.dk)
        reader.refuse("head_dim", tr("rope_config.hidden_size_num_attention",
                                     "hidden_size / num_attention_heads = {}", architecture.dk));
    Rope rope;
    rope.theta = reader.positive(keys.theta, keys.usual_theta);
    double part = reader.positive(keys.part, keys.usual_part);
    auto settings = reader.object("rope_scaling");
    if (!settings)
        settings = reader.object("rope_parameters");
    // Newer files keep base and part among the other settings, under the common names.
    const RopeKeys common;
    if (settings) {
        rope.theta = settings->positive(common.theta, rope.theta);
        part = settings->positive(common.part, part);
    }
    if (part > 1.0 || (keys.whole && part != 1.0)) {
        const bool inside = settings && settings->has(common.part);
        (inside ? *settings : reader)
            .refuse(inside ? common.part : keys.part,
                    keys.whole
                        ? tr("rope_config.1_family_turns_whole", "1, as this family rotates whole heads")
                        : tr("rope_config.above_0_most_1", "above 0 and at most 1"));
    }
    // Cut off, as int() does.
    architecture.rotary_width = static_cast<std::int64_t>(static_cast<double>(architecture.dk) * part);
    if (architecture.dk % 2 != 0 || architecture.rotary_width < 2 || architecture.rotary_width % 2 != 0)
        reader.refuse(reader.has("head_dim") ? "head_dim" : "hidden_size",
                      tr("rope_config.such_width_head_part",
                         "a value with which the width of a head and of its rotated part are even, for the "
                         "rotary position embedding"));
    if (settings)
        rope.scaling = read_scaling(reader, *settings, architecture, rope.theta, keys);
    architecture.ropes = {rope};
    architecture.layer_rope.assign(static_cast<std::size_t>(architecture.layers), 0);
}

void read_rope_kinds(const ConfigReader& reader, const RopeKindKeys& keys, Architecture& architecture) {
    read_rope(reader, {.theta = keys.full, .usual_theta = keys.usual_full, .whole = true}, architecture);
    Rope full = architecture.ropes.front(), sliding;
    sliding.theta = keys.sliding == nullptr ? full.theta : reader.positive(keys.sliding, keys.usual_sliding);
    // The older key comes before the scaling in the newer one.
    const bool scaled = reader.has("rope_scaling");
    if (scaled && keys.scale_both)
        sliding.scaling = full.scaling;
    if (const auto kinds = reader.object("rope_parameters")) {
        const auto read = [&](const char* kind, Rope& rope, bool has_scaling) {
            if (const auto settings = kinds->object(kind)) {
                rope.theta = settings->positive("rope_theta", rope.theta);
                if (!has_scaling)
                    rope.scaling = read_scaling(reader, *settings, architecture, rope.theta, {});
            }
        };
        read("full_attention", full, scaled);
        read("sliding_attention", sliding, scaled && keys.scale_both);
    }
    architecture.ropes = {full, sliding};
    for (std::size_t l = 0; l < architecture.windows.size(); ++l)
        architecture.layer_rope[l] = architecture.windows[l] ? 1 : 0;
}

void turn_only_in_windows(Architecture& architecture) {
    for (std::size_t l = 0; l < architecture.windows.size(); ++l)
        if (!architecture.windows[l])
            architecture.layer_rope[l] = std::nullopt;
}

} // namespace headscope::checkpoint
