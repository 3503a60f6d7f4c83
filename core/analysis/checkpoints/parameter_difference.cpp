#include "core/analysis/checkpoints/parameter_difference.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/checkpoint/checks/settings_difference.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

namespace headscope::analysis {

namespace {

using checkpoint::Model;
using checkpoint::ModelConfig;
using checkpoint::Stack;

/// Squared sums, which add up over parts.
struct DifferenceSums {
    double norm = 0, difference = 0, largest = 0;

    void add(float a, float b) {
        const double from = static_cast<double>(a), apart = static_cast<double>(b) - from;
        norm += from * from;
        difference += apart * apart;
        largest = std::max(largest, std::abs(apart));
    }
    NumberDifference result() const {
        return {.norm = std::sqrt(norm), .difference = std::sqrt(difference), .largest = largest};
    }
};

NumberDifference difference_of(std::span<const float> a, std::span<const float> b) {
    DifferenceSums sums;
    for (std::size_t n = 0; n < a.size(); ++n)
        sums.add(a[n], b[n]);
    return sums.result();
}

/// The difference of columns [first, first + count) of two matrices.
NumberDifference columns_difference(const Tensor& a, const Tensor& b, std::int64_t first,
                                    std::int64_t count) {
    DifferenceSums sums;
    for (std::int64_t row = 0; row < a.shape()[0]; ++row)
        for (std::int64_t column = first; column < first + count; ++column)
            sums.add(a.at(row, column), b.at(row, column));
    return sums.result();
}

NumberDifference rows_difference(const Tensor& a, const Tensor& b, std::int64_t first, std::int64_t count) {
    const auto begin = static_cast<std::size_t>(first * a.shape()[1]),
               size = static_cast<std::size_t>(count * a.shape()[1]);
    return difference_of(a.values().subspan(begin, size), b.values().subspan(begin, size));
}

/// Returns a list of at most six entries and the number of the others.
std::string few_of(const std::vector<std::string>& all) {
    constexpr std::size_t listed = 6;
    if (all.size() <= listed)
        return joined(all, {}, "; ");
    return tr("parameter_difference.more", "{}; and {} more", joined(std::span(all).first(listed), {}, "; "),
              all.size() - listed);
}

/// Returns sentences about the sizes that differ.
std::vector<std::string> differing_sizes(const ModelConfig& a, const ModelConfig& b) {
    std::vector<std::string> found;
    const auto compare = [&](const char* name, std::int64_t of_a, std::int64_t of_b) {
        if (of_a != of_b)
            found.push_back(tr("parameter_difference.size", "{} is {} and {}", name, of_a, of_b));
    };
    compare("layers", a.layers, b.layers);
    compare("D", a.D, b.D);
    compare("H", a.H, b.H);
    compare("Hkv", a.Hkv, b.Hkv);
    compare("dk", a.dk, b.dk);
    compare("vocab", a.vocab, b.vocab);
    return found;
}

/// The names of the tensors that a run reads; those of other parts of a multimodal checkpoint are left out.
std::set<std::string> read_names(const Model& model) {
    std::set<std::string> names;
    const bool has_other_parts = !model.report().other_parts.empty();
    for (const format::TensorEntry* entry : model.files().entries())
        if (!has_other_parts || !checkpoint::other_part_of(entry->name))
            names.insert(entry->name);
    for (const auto* left_out : {&model.report().unused, &model.report().unknown})
        for (const std::string& name : *left_out)
            names.erase(name);
    return names;
}

bool differ(const TensorPtr& a, const TensorPtr& b) {
    return a != nullptr && b != nullptr && !std::ranges::equal(a->values(), b->values());
}

/// Collects the edits that turn one checkpoint into another.
class EditCollector {
public:
    explicit EditCollector(const ModelConfig& config) : architecture_(config) {}

    void add(std::int64_t n, TensorId weight, const TensorPtr& a, const TensorPtr& b) {
        if ((a == nullptr) != (b == nullptr))
            fail_input(
                tr("parameter_difference.one_lacks",
                   "only one of the two checkpoints has the parameter {} in {}; compare two checkpoints "
                   "with the same parameters",
                   name_of(weight),
                   checkpoint::attention_words(architecture_, attention_place(architecture_, n))));
        if (!differ(a, b))
            return;
        if (!checkpoint::is_editable_weight(weight))
            fail_input(tr("parameter_difference.no_edit",
                          "parameters of {} differ that cannot be held as edits; write the differences with "
                          "headscope diff and -o FILE.safetensors",
                          checkpoint::attention_words(architecture_, attention_place(architecture_, n))));
        const TensorId read = checkpoint::read_as(architecture_, weight);
        checkpoint::LayerEdits& edits = edits_[checkpoint::edited_with(architecture_, n, read)];
        if (!is_table(read)) {
            edits.tensors[read] = b;
            return;
        }
        for (std::int64_t row = 0; row < b->shape()[0]; ++row) {
            const auto from = checkpoint::row_of(*a, row), to = checkpoint::row_of(*b, row);
            if (!std::ranges::equal(from, to))
                edits.rows[read][row] = make_tensor(checkpoint::row_shape(b->shape()), to);
        }
    }
    checkpoint::ModelEdits edits() && { return std::move(edits_); }

private:
    static std::string name_of(TensorId weight) {
        return checkpoint::is_editable_weight(weight) ? std::string(tensor_info(weight).name)
                                                      : tr("parameter_difference.unnamed", "of another kind");
    }

    const ModelConfig& architecture_;
    checkpoint::ModelEdits edits_;
};

} // namespace

std::optional<double> NumberDifference::relative() const {
    if (difference == 0.0)
        return 0.0;
    return norm == 0.0 ? std::nullopt : std::optional(difference / norm);
}

NumberDifference NumberDifference::with(const NumberDifference& other) const {
    return {.norm = std::hypot(norm, other.norm),
            .difference = std::hypot(difference, other.difference),
            .largest = std::max(largest, other.largest)};
}

CheckpointPair::CheckpointPair(const Model& a, const Model& b) : a_(a), b_(b) {
    std::vector<std::string> apart = differing_sizes(a.config(), b.config());
    const std::set<std::string> of_a = read_names(a), of_b = read_names(b);
    std::ranges::set_difference(of_a, of_b, std::back_inserter(only_a_));
    std::ranges::set_difference(of_b, of_a, std::back_inserter(only_b_));
    std::ranges::set_intersection(of_a, of_b, std::back_inserter(names_));
    for (const std::string& name : names_) {
        const auto &from = *a.files().find(name), &to = *b.files().find(name);
        if (from.extents != to.extents)
            apart.push_back(tr("parameter_difference.shape", "{} has shape {} and {}", name,
                               from.shape_text(), to.shape_text()));
    }
    if (apart.empty() && names_.empty())
        apart.push_back(tr("parameter_difference.no_name", "no tensor of one has a name that the other has"));
    if (!apart.empty())
        fail_input(tr("parameter_difference.shapes",
                      "{} and {} have different shapes: {}; give two checkpoints of one shape", a.path(),
                      b.path(), few_of(apart)));
}

std::vector<ParameterDifference> CheckpointPair::tensors(Progress& progress) const {
    std::vector<ParameterDifference> all;
    for (const std::string& name : names_) {
        progress.check();
        const TensorPtr from = a_.files().tensor(name), to = b_.files().tensor(name);
        all.push_back({.name = name,
                       .extents = a_.files().find(name)->extents,
                       .numbers = difference_of(from->values(), to->values())});
        progress.report(static_cast<float>(all.size()) / static_cast<float>(names_.size()));
    }
    return all;
}

std::vector<HeadDifference> head_differences(const ModelConfig& config, std::int64_t n,
                                             const checkpoint::WeightSet& a, const checkpoint::WeightSet& b) {
    const checkpoint::AttentionPlace place = attention_place(config, n);
    const ModelConfig& sizes = in_stack(config, place.stack);
    std::vector<HeadDifference> all;
    for (std::int64_t h = 0; h < sizes.H; ++h) {
        const auto columns = [&](TensorId weight, std::int64_t heads) {
            if (a[weight] == nullptr || b[weight] == nullptr)
                return NumberDifference();
            const std::int64_t width = a[weight]->shape()[1] / heads;
            return columns_difference(*a[weight], *b[weight], h / (sizes.H / heads) * width, width);
        };
        const std::int64_t rows = a[TensorId::W_O]->shape()[0] / sizes.H;
        all.push_back({.place = place,
                       .head = h,
                       .W_Q = columns(TensorId::W_Q, sizes.H),
                       .W_K = columns(TensorId::W_K, sizes.Hkv),
                       .W_V = columns(TensorId::W_V, sizes.Hkv),
                       .W_O = rows_difference(*a[TensorId::W_O], *b[TensorId::W_O], h * rows, rows)});
    }
    return all;
}

std::vector<HeadDifference> CheckpointPair::heads(Progress& progress) const {
    std::vector<HeadDifference> all;
    const ModelConfig& config = a_.config();
    for (std::int64_t n = 0; n < attention_count(config); ++n) {
        progress.check();
        if (!has_attention(config, attention_place(config, n)))
            continue;
        const std::vector<HeadDifference> layer = head_differences(config, n, a_.layer(n), b_.layer(n));
        all.insert(all.end(), layer.begin(), layer.end());
    }
    return all;
}

checkpoint::ModelEdits CheckpointPair::edits(Progress& progress) const {
    const ModelConfig& config = a_.config();
    if (const auto settings = checkpoint::differing_settings(a_, b_); !settings.empty())
        fail_input(tr("parameter_difference.settings",
                      "{} and {} have different settings: {}; compare two checkpoints that differ only in "
                      "their parameters",
                      a_.path(), b_.path(), few_of(settings)));
    const std::int64_t count = attention_count(config);
    EditCollector collector(config);
    for (std::int64_t n = 0; n < count; ++n) {
        progress.check();
        progress.report(static_cast<float>(n) / static_cast<float>(count));
        const checkpoint::WeightSet from = editable_weights(a_, n), to = editable_weights(b_, n);
        for (const TensorId weight : checkpoint::all_weights)
            collector.add(n, weight, from[weight], to[weight]);
    }
    for (const TensorId weight : checkpoint::weights_around) {
        const bool of_end = weight == TensorId::final_norm_weight || weight == TensorId::final_norm_bias ||
                            weight == TensorId::b_U; // among editable_weights
        if (of_end || (weight == TensorId::W_U && config.tied))
            continue;
        if (a_.encoder() != nullptr)
            collector.add(0, weight, a_.encoder()->weight(weight), b_.encoder()->weight(weight));
        collector.add(count - 1, weight, a_.weight(weight), b_.weight(weight));
    }
    return std::move(collector).edits();
}

} // namespace headscope::analysis
