#include "tests/conformance/cases.h"
#include "tests/conformance/generate.h"

#include <array>

namespace headscope {

namespace {

std::string text_of(const Dims& d, const Features& f, const Mask& mask, std::uint64_t seed) {
    std::string text;
    for (const auto& [name, value] : {std::pair{"B", d.B},
                                      {"Tq", d.Tq},
                                      {"Tk", d.Tk},
                                      {"D", d.D},
                                      {"Dkv", d.Dkv},
                                      {"H", d.H},
                                      {"Hkv", d.Hkv},
                                      {"dk", d.dk},
                                      {"dv", d.dv}})
        text += std::string(name) + " " + std::to_string(value) + ", ";
    text += f.biases ? "biases, " : "";
    text += f.gains ? "gains, " : "";
    text += std::string(f.joint_norm ? "joint norm, " : "") + (f.sink ? "sink, " : "");
    text += f.query_scale ? "scaled queries, " : "";
    text += f.value_norm ? "value norm, " : "";
    text += f.qkv_limit > 0 ? "limit " + std::to_string(f.qkv_limit) + ", " : "";
    text += "temperature " + std::to_string(f.temperature) + ", mask rules";
    for (const MaskRule& rule : mask)
        text += " " + std::to_string(rule.index());
    return "(" + text + ", seed " + std::to_string(seed) + ")";
}

ConformanceCase make_case(const std::string& name, const Dims& dims, const Features& features,
                          const std::vector<int>& rules, std::uint64_t seed, bool cross = false) {
    Numbers numbers(seed);
    ConformanceCase one{name, "", generate(dims, features, numbers, cross), {}};
    for (const int kind : rules)
        one.problem.mask.push_back(generate_rule(kind, dims, numbers));
    one.parameters = text_of(dims, features, one.problem.mask, seed);
    return one;
}

/// Draws sizes, features and rules at random; with `families`, also features that only some model families
/// have.
ConformanceCase random_case(std::uint64_t seed, bool families = false) {
    Numbers numbers(seed);
    constexpr std::array<std::int64_t, 5> groups{1, 1, 2, 3, 4};
    Dims d;
    d.B = numbers.whole(1, 3);
    d.Tq = numbers.whole(1, 9);
    d.D = numbers.whole(1, 12);
    d.Hkv = numbers.whole(1, 3);
    d.H = d.Hkv * groups[static_cast<std::size_t>(numbers.whole(0, 4))];
    d.dk = numbers.whole(1, 5);
    d.dv = numbers.chance(50) ? d.dk : numbers.whole(1, 5);
    const bool cross = numbers.chance(40);
    d.Tk = cross ? numbers.whole(1, 11) : d.Tq;
    d.Dkv = cross ? numbers.whole(1, 12) : d.D;
    Features features{.biases = numbers.chance(50),
                      .gains = numbers.chance(40),
                      .temperature = numbers.chance(40) ? 0.75F + 0.5F * numbers.real() : 1.0F};
    if (families) {
        features.joint_norm = numbers.chance(50);
        features.sink = numbers.chance(60);
        features.qkv_limit = numbers.chance(40) ? 0.75F + 0.5F * numbers.real() : 0.0F;
    }
    std::vector<int> rules;
    for (std::int64_t count = numbers.whole(0, 3); count > 0; --count)
        rules.push_back(static_cast<int>(numbers.whole(0, rule_kinds - 1)));
    return make_case("random", d, features, rules, seed, cross);
}

} // namespace

std::vector<ConformanceCase> generated_cases() {
    constexpr Dims small{.B = 2, .Tq = 5, .Tk = 5, .D = 6, .Dkv = 6, .H = 4, .Hkv = 2, .dk = 3, .dv = 2};
    constexpr Dims one{.B = 1, .Tq = 1, .Tk = 1, .D = 1, .Dkv = 1, .H = 1, .Hkv = 1, .dk = 1, .dv = 1};
    constexpr Dims tiles{
        .B = 1, .Tq = 150, .Tk = 150, .D = 16, .Dkv = 16, .H = 4, .Hkv = 2, .dk = 4, .dv = 4};
    // Larger than the size from which the engine divides its work among threads.
    constexpr Dims large{
        .B = 2, .Tq = 150, .Tk = 130, .D = 48, .Dkv = 32, .H = 6, .Hkv = 2, .dk = 8, .dv = 5};
    Dims longer = small, shorter = small;
    longer.Tk = 9;
    shorter.Tk = 3;
    const Features plain, full{.biases = true, .gains = true, .temperature = 1.5F};

    std::vector<ConformanceCase> cases;
    for (std::uint64_t seed = 1; seed <= 300; ++seed)
        cases.push_back(random_case(seed));
    for (std::uint64_t seed = 301; seed <= 400; ++seed)
        cases.push_back(random_case(seed, true));
    for (int kind = 0; kind < rule_kinds; ++kind)
        for (const Dims& dims : {small, longer, shorter})
            cases.push_back(
                make_case("one rule", dims, full, {kind}, static_cast<std::uint64_t>(1000 + kind)));
    cases.push_back(make_case("every rule", longer, full, {0, 1, 2, 3, 4, 5, 6, 7, 8}, 2001));
    cases.push_back(make_case("two additive rules", small, full, {7, 8}, 2002));
    cases.push_back(make_case("one number each", one, plain, {}, 2003));
    cases.push_back(make_case("one number each, biased", one, full, {0}, 2004));
    cases.push_back(make_case("row tiles", tiles, full, {0}, 2005));
    cases.push_back(make_case("row tiles with a window", tiles, plain, {2, 7}, 2006));
    cases.push_back(make_case("worker pool", large, full, {0, 1}, 2007));
    cases.push_back(make_case("worker pool without a mask", large, plain, {}, 2008));
    cases.push_back(make_case("worker pool with a sink", large,
                              {.joint_norm = true, .sink = true, .qkv_limit = 1.25F}, {0, 1}, 2011));
    for (const float sink : {-200.0F, 200.0F}) { // with it, the keys get all of the weight or none
        ConformanceCase far = make_case("a sink far from the scores", small, {.sink = true}, {0}, 2012);
        far.problem.weights.sink = std::make_shared<const Tensor>(Shape{small.H}, sink);
        cases.push_back(far);
    }

    // In one case no key is a real token; another masks a row with additive minus infinities.
    ConformanceCase nothing = make_case("all rows masked", small, full, {}, 2009);
    Numbers numbers(2010);
    nothing.problem.mask = {KeyPaddingMask{numbers.bools({1, small.Tk}, 0)}};
    cases.push_back(nothing);
    nothing.name = "all rows masked by addition";
    nothing.problem.mask = {
        AdditiveMask{std::make_shared<const Tensor>(Shape{}, -std::numeric_limits<float>::infinity())}};
    cases.push_back(nothing);

    // Scores are products of two tokens: 2^(2 exponent) times small whole numbers, up to about 1e30 and
    // 1e-30.
    for (const int exponent : {-50, -10, 5, 10, 20, 44})
        for (const std::vector<int>& rules : {std::vector<int>{}, {0}, {4}})
            cases.push_back(make_case("scores of 2^" + std::to_string(2 * exponent), longer,
                                      {.exponent = exponent, .whole_numbers = true}, rules,
                                      static_cast<std::uint64_t>(3000 + exponent)));
    return cases;
}

std::vector<ConformanceCase> gated_cases() {
    constexpr Dims small{.B = 2, .Tq = 5, .Tk = 5, .D = 6, .Dkv = 6, .H = 4, .Hkv = 2, .dk = 3, .dv = 2};
    constexpr Dims large{
        .B = 2, .Tq = 150, .Tk = 130, .D = 48, .Dkv = 32, .H = 6, .Hkv = 2, .dk = 8, .dv = 5};
    std::vector<ConformanceCase> cases;
    for (const Dims& dims : {small, large})
        for (const bool full : {false, true})
            for (const std::vector<int>& rules : {std::vector<int>{}, {0, 1}})
                cases.push_back(make_case("gated", dims,
                                          {.biases = full,
                                           .gains = full,
                                           .temperature = full ? 1.5F : 1.0F,
                                           .sink = full,
                                           .gate = true},
                                          rules, 2020 + cases.size()));
    return cases;
}

std::vector<ConformanceCase> value_norm_cases() {
    constexpr Dims small{.B = 2, .Tq = 5, .Tk = 5, .D = 6, .Dkv = 6, .H = 4, .Hkv = 2, .dk = 3, .dv = 2};
    constexpr Dims large{
        .B = 2, .Tq = 150, .Tk = 130, .D = 48, .Dkv = 32, .H = 6, .Hkv = 2, .dk = 8, .dv = 5};
    std::vector<ConformanceCase> cases;
    for (const Dims& dims : {small, large})
        for (const bool full : {false, true})
            for (const std::vector<int>& rules : {std::vector<int>{}, {0, 1}})
                cases.push_back(make_case("value norm", dims,
                                          {.biases = full,
                                           .gains = full,
                                           .temperature = full ? 1.5F : 1.0F,
                                           .joint_norm = full,
                                           .value_norm = true},
                                          rules, 2130 + cases.size()));
    return cases;
}

std::vector<ConformanceCase> chunked_cases() {
    constexpr Dims small{.B = 2, .Tq = 5, .Tk = 5, .D = 6, .Dkv = 6, .H = 4, .Hkv = 2, .dk = 3, .dv = 2};
    constexpr Dims large{
        .B = 2, .Tq = 150, .Tk = 130, .D = 48, .Dkv = 32, .H = 6, .Hkv = 2, .dk = 8, .dv = 5};
    Dims longer = small;
    longer.Tk = 9;
    std::vector<ConformanceCase> cases;
    for (const Dims& dims : {small, longer, large})
        for (const bool full : {false, true})
            for (const std::vector<int>& rules : {std::vector<int>{}, {9}, {9, 1}, {9, 2, 7}})
                cases.push_back(make_case("chunked", dims,
                                          {.biases = full,
                                           .gains = full,
                                           .temperature = full ? 1.5F : 1.0F,
                                           .joint_norm = full,
                                           .query_scale = full || rules.empty()},
                                          rules, 2050 + cases.size()));
    ConformanceCase wide = make_case("a chunk of several tiles", large, {}, {}, 2090);
    wide.problem.mask = {ChunkedCausalMask{50}};
    cases.push_back(wide);
    return cases;
}

std::vector<ConformanceCase> relative_cases() {
    constexpr RelativeRows clipped{.span = 3}, buckets{.span = 6, .buckets = 6, .furthest = 16};
    constexpr Dims small{.B = 2, .Tq = 5, .Tk = 5, .D = 6, .Dkv = 6, .H = 3, .Hkv = 3, .dk = 3, .dv = 2},
        large{.B = 2, .Tq = 150, .Tk = 150, .D = 48, .Dkv = 48, .H = 6, .Hkv = 6, .dk = 8, .dv = 5};
    std::vector<ConformanceCase> cases;
    for (const Dims& sizes : {small, large})
        for (const RelativeRows& rows : {clipped, buckets})
            for (const auto& [c2p, p2c] : {std::pair(true, true), {true, false}, {false, true}})
                for (const bool full : {false, true}) {
                    Dims dims = sizes;
                    dims.distances = rows.count();
                    const std::vector<int> rules = full                    ? std::vector<int>{1, 7}
                                                   : cases.size() % 3 == 0 ? std::vector<int>{0}
                                                                           : std::vector<int>{};
                    cases.push_back(make_case("relative positions", dims,
                                              {.biases = full,
                                               .gains = full,
                                               .temperature = full ? 1.5F : 1.0F,
                                               .relative = RelativeTerms{rows, c2p, p2c},
                                               .own_positions = cases.size() % 4 > 1},
                                              rules, 2040 + cases.size()));
                }
    return cases;
}

} // namespace headscope
