#include "tests/conformance/cases.h"
#include "tests/test_data.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/format/safetensors.h"
#include "core/project/case_file.h"
#include "core/project/mask_json.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/mask_by_definition.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace headscope {

namespace {

using nlohmann::json;

constexpr std::array stored{std::pair{"expect.Q", TensorId::q},
                            std::pair{"expect.K", TensorId::k},
                            std::pair{"expect.V", TensorId::v},
                            std::pair{"expect.scores", TensorId::scaled},
                            std::pair{"expect.scores_masked", TensorId::masked},
                            std::pair{"expect.weights", TensorId::weights},
                            std::pair{"expect.heads", TensorId::head_out},
                            std::pair{"expect.concat", TensorId::concat},
                            std::pair{"expect.output", TensorId::output},
                            std::pair{"expect.weights_mean", TensorId::weights_mean}};

std::string parameters_of(const json& entry) {
    json kept;
    for (const char* name : {"B", "T_q", "T_k", "D", "H", "H_kv", "d_k", "bias", "mask", "seed"})
        if (entry.contains(name))
            kept[name] = entry[name];
    return kept.dump();
}

/// heads[b, h, i, c] = joined[b, i, h · width + c].
TensorPtr split(const Tensor& joined, std::int64_t heads) {
    const std::int64_t B = joined.shape()[0], T = joined.shape()[1], width = joined.shape()[2] / heads;
    Tensor out({B, heads, T, width});
    for (std::int64_t b = 0; b < B; ++b)
        for (std::int64_t h = 0; h < heads; ++h)
            for (std::int64_t i = 0; i < T; ++i)
                for (std::int64_t c = 0; c < width; ++c)
                    out.at(b, h, i, c) = joined.at(b, i, h * width + c);
    return std::make_shared<const Tensor>(std::move(out));
}

/// Restores the scores before PyTorch's division by sqrt(dk).
TensorPtr undivided(const Tensor& scaled, std::int64_t dk) {
    Tensor out(scaled.shape(), scaled.values());
    for (float& value : out.values())
        value = static_cast<float>(static_cast<double>(value) * std::sqrt(static_cast<double>(dk)));
    return std::make_shared<const Tensor>(std::move(out));
}

Trace expected_of(const format::Safetensors& file, const json& entry, const Dims& dims) {
    Trace expected;
    expected.dims = dims;
    for (const auto& [name, stage] : stored)
        if (file.has(name))
            expected.slot(stage) = file.tensor(name);
    // Without a mask, the masked scores equal the scaled ones, and files omit them.
    if (!file.has("expect.scores_masked"))
        expected.slot(TensorId::masked) = expected.stages[static_cast<std::size_t>(TensorId::scaled)];
    expected.slot(TensorId::q_heads) = split(*expected.stage(TensorId::q), dims.H);
    expected.slot(TensorId::k_heads) = split(*expected.stage(TensorId::k), dims.Hkv);
    expected.slot(TensorId::v_heads) = split(*expected.stage(TensorId::v), dims.Hkv);
    expected.slot(TensorId::scores) = undivided(*expected.stage(TensorId::scaled), dims.dk);
    for (const json& row : entry.value("fully_masked_rows", json::array()))
        for (std::int64_t h = 0; h < dims.H; ++h)
            expected.fully_masked.push_back({row[0].get<std::int64_t>(), h, row[1].get<std::int64_t>()});
    std::ranges::sort(expected.fully_masked, [](const MaskedRow& a, const MaskedRow& b) {
        return std::array{a.b, a.h, a.i} < std::array{b.b, b.h, b.i};
    });
    return expected;
}

void add_golden(std::vector<ConformanceCase>& cases, const std::string& folder, const json& entry) {
    const std::string path = folder + entry.at("file").get<std::string>();
    ConformanceCase one;
    one.name = entry.at("name").get<std::string>();
    one.parameters = parameters_of(entry);
    one.problem = project::load_case(
        {path, entry.at("H").get<std::int64_t>(), entry.at("H_kv").get<std::int64_t>(), std::nullopt, {}});
    one.expected = expected_of(format::Safetensors::open(path), entry, one.problem.dims);
    cases.push_back(one);

    const json& rules = entry.at("mask");
    const bool in_words = !rules.empty() && std::ranges::none_of(rules, [](const json& rule) {
        return rule.at("kind") == "additive";
    });
    if (!in_words)
        return;
    one.name += " with its rules";
    one.problem.mask = project::parse_mask(rules.dump());
    cases.push_back(std::move(one));
}

std::string failure(const ConformanceCase& one, const Tracer& tracer) {
    try {
        const Trace got = tracer(one.problem);
        std::string wrong = difference(got, one.expected);
        if (wrong.empty())
            wrong = broken_invariant(got);
        return wrong.empty() ? broken_mask(one.problem, got) : wrong;
    } catch (const std::exception& error) {
        return std::string("threw: ") + error.what();
    }
}

} // namespace

std::vector<ConformanceCase> golden_cases() {
    const std::string data = test_data("");
    std::vector<ConformanceCase> cases;
    const std::string manifest = data + "/mha/manifest.json";
    const json listed = parse_json(read_file(manifest), manifest);
    for (const json& entry : listed.at("cases"))
        add_golden(cases, data + "/mha/", entry);
    const std::string cat = data + "/cat_sleeps/cat_sleeps.json";
    add_golden(cases, data + "/cat_sleeps/", parse_json(read_file(cat), cat));
    return cases;
}

std::vector<std::string> failures(const std::vector<ConformanceCase>& cases, const Tracer& tracer) {
    std::vector<std::string> lines;
    for (const ConformanceCase& one : cases)
        if (const std::string wrong = failure(one, tracer); !wrong.empty())
            lines.push_back(one.name + " " + one.parameters + ": " + wrong);
    return lines;
}

std::vector<std::string> failures(const std::vector<ConformanceCase>& cases, engine::Engine& engine) {
    return failures(cases, [&](const Problem& problem) { return engine.run(problem); });
}

} // namespace headscope
