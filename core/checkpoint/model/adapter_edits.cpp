#include "core/checkpoint/model/adapter_edits.h"

#include "core/base/joined.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/checkpoint/model/stacks.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace headscope::checkpoint {

namespace {

bool equal_numbers(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

bool differ(const TensorPtr& a, const TensorPtr& b) {
    return a != b && (a == nullptr || b == nullptr || !equal_numbers(a->values(), b->values()));
}

/// Returns true if one of the rows' tensors, in layer l, is among the names.
bool changes_one(const std::vector<TensorName>& rows, const Architecture& a, std::int64_t l,
                 const std::set<std::string>& changed) {
    return std::ranges::any_of(rows, [&](const TensorName& row) {
        if (!is_per_layer(row.weight) || !is_in_layer(row, a, l))
            return false;
        const std::vector<std::string> names = full_names(row, a.names.prefixes.front(), l, a);
        return std::ranges::any_of(names, [&](const std::string& name) { return changed.contains(name); });
    });
}

/// The rows of a table in which the two differ.
TableRows changed_rows(const Tensor& own, const Tensor& adapted) {
    TableRows rows;
    for (std::int64_t row = 0; row < own.shape()[0]; ++row)
        if (const auto numbers = row_of(adapted, row); !equal_numbers(row_of(own, row), numbers))
            rows.emplace(row, std::make_shared<const Tensor>(row_shape(own.shape()), numbers));
    return rows;
}

/// Adds the changes of attention n, and of the final norm and the output bias after the last one. Returns
/// false if one cannot be edited.
bool add_layer_edits(const Model& base, const Model& adapted, std::int64_t n, ModelEdits& edits) {
    const WeightSet own = editable_weights(base, n), changed = editable_weights(adapted, n);
    for (const TensorId weight : all_weights) {
        if (!differ(own[weight], changed[weight]))
            continue;
        if (!is_editable_weight(weight) || own[weight] == nullptr || changed[weight] == nullptr)
            return false;
        if (is_table(weight))
            edits[n].rows[weight] = changed_rows(*own[weight], *changed[weight]);
        else
            edits[n].tensors[weight] = changed[weight];
    }
    return true;
}

/// Adds the changes around the layers of a stack, of which n is an attention.
bool add_end_edits(const Model& base, const Model& adapted, std::int64_t n, ModelEdits& edits) {
    const Model &own = stack_at(base, n), &changed = stack_at(adapted, n);
    const Architecture& a = base.architecture();
    for (const TensorId weight : weights_around) {
        if (read_as(own.config(), weight) != weight)
            continue;
        const bool of_head = find_row(own.architecture().names.head, weight) != nullptr;
        if ((find_row(own.architecture().names.body, weight) == nullptr && !of_head) ||
            (of_head && !own.has_head()))
            continue;
        const TensorPtr before = own.weight(weight), after = changed.weight(weight);
        if (!differ(before, after))
            continue;
        if (!is_editable_weight(weight) || before == nullptr || after == nullptr)
            return false;
        if (is_table(weight))
            edits[edited_with(a, n, weight)].rows[weight] = changed_rows(*before, *after);
        else
            edits[edited_with(a, n, weight)].tensors[weight] = after;
    }
    return true;
}

std::string adapter_sentence(const Adapted& adapted) {
    std::vector<std::string> changed = adapted.modules;
    if (!adapted.replaced.empty())
        changed.push_back(tr("adapter_edits.whole_tensors", "{} whole tensors", adapted.replaced.size()));
    const std::string rank =
        adapted.rank == 0 ? ""
        : adapted.least_rank == adapted.rank
            ? tr("adapter_edits.rank", "rank {}", adapted.rank)
            : tr("adapter_edits.ranks", "ranks {} to {}", adapted.least_rank, adapted.rank);
    return (rank.empty() ? "" : rank + ": ") + joined(changed);
}

/// Bytes of the tensors that the adapter changes, as float32.
double changed_bytes(const Model& adapted) {
    double bytes = 0;
    for (const std::string& name : adapted.adapted()->changed) {
        double numbers = 1;
        for (const std::int64_t extent : adapted.files().find(name)->extents)
            numbers *= static_cast<double>(extent);
        bytes += static_cast<double>(sizeof(float)) * numbers;
    }
    return bytes;
}

} // namespace

std::optional<ModelEdits> edits_of_adapter(const Model& base, const Model& adapted) {
    const Architecture& a = base.architecture();
    const std::set<std::string>& changed = adapted.adapted()->changed;
    ModelEdits edits;
    const std::int64_t count = attention_count(a);
    for (std::int64_t n = 0; n < count; ++n) {
        const AttentionPlace place = attention_place(a, n);
        const Architecture& stack = in_stack(a, place.stack);
        const std::vector<TensorName>& rows =
            place.stack == Stack::cross ? stack.names.cross : stack.names.body;
        if (changes_one(rows, stack, place.layer, changed) && !add_layer_edits(base, adapted, n, edits))
            return std::nullopt;
    }
    if (a.encoder != nullptr && !add_end_edits(base, adapted, 0, edits))
        return std::nullopt;
    if (!add_end_edits(base, adapted, count - 1, edits))
        return std::nullopt;
    std::erase_if(edits, [](const auto& of) { return of.second.empty(); });
    return edits;
}

EditedCheckpoint open_edited(const std::string& path) {
    TextModelPtr adapted = open_text_model(path);
    const Adapted* const changes = adapted->model->adapted();
    if (changes == nullptr)
        return {.text = adapted, .note = adapted->model->assumed()};
    const std::string name = checkpoint_name(path), base_name = checkpoint_name(changes->base),
                      what = adapter_sentence(*changes);
    const auto whole = [&](const std::string& note) {
        return EditedCheckpoint{.text = adapted, .note = note};
    };
    constexpr double part = 1.0 / 3.0;
    if (changed_bytes(*adapted->model) > part * static_cast<double>(available_memory()))
        return whole(tr("adapter_edits.too_large",
                        "The LoRA adapter {} ({}) is shown together with its base {}: its changes need more "
                        "memory than is free, so they cannot be compared with the base here",
                        name, what, base_name));
    TextModelPtr base = open_text_model(changes->base);
    std::optional<ModelEdits> edits = edits_of_adapter(*base->model, *adapted->model);
    if (!edits)
        return whole(
            tr("adapter_edits.not_editable",
               "The LoRA adapter {} ({}) is shown together with its base {}: it changes weights that "
               "cannot be edited, so it cannot be compared with the base here",
               name, what, base_name));
    return {.text = std::move(base),
            .edits = *std::move(edits),
            .note = tr("adapter_edits.as_edits", "The changes of the LoRA adapter {} ({}) are edits of {}",
                       name, what, base_name)};
}

} // namespace headscope::checkpoint
