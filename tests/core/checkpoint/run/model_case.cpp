#include "tests/core/checkpoint/run/model_case.h"

#include "core/base/file.h"
#include "core/checkpoint/families/families.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace headscope::test {

using namespace headscope::checkpoint;

namespace {

/// Reads a float32 tensor of any rank, without the program's reader, which supports at most four axes.
std::vector<float> floats(const std::string& file, const std::string& name,
                          std::vector<std::int64_t>& shape) {
    std::uint64_t header = 0;
    std::memcpy(&header, file.data(), sizeof header);
    const auto entry = nlohmann::json::parse(file.substr(sizeof header, header)).at(name);
    REQUIRE(entry.at("dtype") == "F32");
    shape = entry.at("shape").get<std::vector<std::int64_t>>();
    const auto begin = entry.at("data_offsets")[0].get<std::size_t>();
    const auto end = entry.at("data_offsets")[1].get<std::size_t>();
    std::vector<float> values((end - begin) / sizeof(float));
    std::memcpy(values.data(), file.data() + sizeof header + header + begin, end - begin);
    return values;
}

/// Returns the largest difference in rows of real tokens. Each batch entry has the same number of rows, T
/// for each head.
double largest_difference(const ModelCase& one, const Tensor& got, const float* expected) {
    const std::int64_t width = got.shape().back(0), rows = got.count() / width;
    double largest = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
        if (!one.real(row / (rows / one.B), row % one.T))
            continue;
        for (std::int64_t c = 0; c < width; ++c) {
            const double gap = std::abs(static_cast<double>(got.data()[row * width + c]) -
                                        static_cast<double>(expected[row * width + c]));
            largest = std::isnan(gap) ? INFINITY : std::max(largest, gap);
        }
    }
    return largest;
}

/// A checkpoint without a language-model head has no logits to compare with.
bool has_expected_logits(const std::string& file) {
    return file.find("\"expect.logits\"") != std::string::npos;
}

/// The active copy that enters each layer, from (L+1, copies, B, T, D).
std::vector<float> active_copies(const std::vector<float>& all, const std::vector<std::int64_t>& shape,
                                 std::int64_t active) {
    const std::int64_t layers = shape.at(0) - 1, copies = shape.at(1),
                       count = shape.at(2) * shape.at(3) * shape.at(4);
    std::vector<float> out;
    for (std::int64_t l = 0; l < layers; ++l) {
        const auto first = all.begin() + (l * copies + active) * count;
        out.insert(out.end(), first, first + count);
    }
    return out;
}

bool is_encoder_decoder(const std::string& folder) {
    return nlohmann::json::parse(read_file(folder + "/config.json")).value("is_encoder_decoder", false);
}

} // namespace

double ModelCase::weights_difference(std::int64_t l, const Tensor& weights) const {
    REQUIRE(weights.shape() == Shape{B, H, T, T});
    const auto place = std::ranges::find(attention_layers, l);
    REQUIRE(place != attention_layers.end());
    return largest_difference(*this, weights,
                              attentions.data() + (place - attention_layers.begin()) * weights.count());
}

double ModelCase::hidden_difference(std::int64_t l, const Tensor& x) const {
    REQUIRE(x.shape() == Shape{B, T, D});
    if ((l + 1) * x.count() > std::ssize(hidden))
        return 0;
    return largest_difference(*this, x, hidden.data() + l * x.count());
}

double ModelCase::logits_difference(const Tensor& x) const {
    REQUIRE(x.shape() == Shape{B, T, vocab});
    return largest_difference(*this, x, logits.data());
}

std::vector<std::string> model_case_names(bool encoder_decoder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(test_data("/models")))
        if (entry.is_directory() && is_encoder_decoder(entry.path().string()) == encoder_decoder &&
            has_expected_logits(read_file(entry.path().string() + "/expected.safetensors")))
            names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

ModelCase load_model_case(const std::string& name) {
    ModelCase one;
    one.folder = test_data("/models/") + name;
    const std::string path = one.folder + "/expected.safetensors", file = read_file(path);
    one.inputs = read_model_inputs(format::Safetensors::open(path));
    std::vector<std::int64_t> shape;
    one.attentions = floats(file, "expect.attentions", shape);
    one.B = shape.at(1), one.H = shape.at(2), one.T = shape.at(3);
    const Architecture architecture =
        read_architecture(read_file(one.folder + "/config.json"), one.folder + "/config.json");
    one.attention_layers = attention_layers(architecture);
    REQUIRE(std::ssize(one.attention_layers) == shape.at(0));
    one.hidden = floats(file, "expect.hidden_states", shape);
    one.L = shape.at(0) - 1;
    one.D = shape.back();
    if (architecture.copies)
        one.hidden = active_copies(one.hidden, shape, architecture.copies->active);
    if (has_expected_logits(file)) {
        one.logits = floats(file, "expect.logits", shape);
        one.vocab = shape.at(2);
    }
    REQUIRE(one.inputs.attention_mask.size() == static_cast<std::size_t>(one.B * one.T));
    return one;
}

std::vector<std::int64_t> attention_layers(const ModelConfig& config) {
    std::vector<std::int64_t> layers;
    for (std::int64_t l = 0; l < config.layers; ++l)
        if (config.has_attention(l))
            layers.push_back(l);
    return layers;
}

std::vector<std::string> attending_model_names() {
    std::vector<std::string> names = model_case_names();
    std::erase_if(names, [](const std::string& name) {
        const ModelCase one = load_model_case(name);
        return std::ssize(one.attention_layers) != one.L;
    });
    return names;
}

std::vector<std::string> all_model_names() {
    std::vector<std::string> names = model_case_names();
    std::ranges::copy(model_case_names(true), std::back_inserter(names));
    return names;
}

namespace {

void keep_first(ModelInputs& inputs) {
    const auto T = static_cast<std::size_t>(inputs.T);
    inputs.B = 1;
    inputs.ids.resize(T);
    if (!inputs.attention_mask.empty())
        inputs.attention_mask.resize(T);
    if (!inputs.token_types.empty())
        inputs.token_types.resize(T);
    std::ranges::for_each(inputs.source, keep_first);
}

} // namespace

ModelInputs first_text(const std::string& name) {
    ModelInputs inputs =
        read_model_inputs(format::Safetensors::open(test_data("/models/" + name + "/expected.safetensors")));
    keep_first(inputs);
    return inputs;
}

ForwardResult run_on_cpu(const Model& model, const ModelInputs& inputs, const ForwardOptions& options) {
    Progress progress;
    return run_model(model, inputs, options, nullptr, progress);
}

} // namespace headscope::test
