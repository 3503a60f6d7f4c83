#include "core/checkpoint/model/parameter_names.h"

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/model/model_edits.h"

#include <vector>

namespace headscope::checkpoint {

ParameterNames::ParameterNames(const Model& model) {
    const Architecture& whole = model.architecture();
    const auto add = [&](Stack stack, const std::vector<TensorName>& rows) {
        const Architecture& own = in_stack(whole, stack);
        for (const TensorName& row : rows)
            for (std::int64_t l = 0; l < (is_per_layer(row.weight) ? own.layers : 1); ++l) {
                if (!is_in_layer(row, own, l))
                    continue;
                const std::int64_t n = attention_number(whole, {stack, l});
                for (const std::string_view prefix : own.names.prefixes)
                    for (const std::string& name : full_names(row, prefix, l, own))
                        held_.try_emplace(
                            name, HeldParameter{row.weight, edited_with(whole, n, read_as(own, row.weight))});
            }
    };
    if (whole.encoder != nullptr)
        add(Stack::encoder, in_stack(whole, Stack::encoder).names.body);
    add(Stack::own, whole.names.body);
    if (whole.encoder != nullptr)
        add(Stack::cross, whole.names.cross);
    const std::int64_t last = attention_count(whole) - 1;
    for (const TensorName& row : whole.names.head)
        held_.try_emplace(row.name, HeldParameter{row.weight, edited_with(whole, last, row.weight)});
    for (const auto& [weight, twin] : whole.names.twins)
        held_.try_emplace(twin, HeldParameter{weight, edited_with(whole, last, read_as(whole, weight))});
}

std::optional<HeldParameter> ParameterNames::find(std::string_view name) const {
    for (std::string_view rest = name;; rest.remove_prefix(rest.find('.') + 1)) {
        if (const auto found = held_.find(rest); found != held_.end())
            return found->second;
        if (rest.find('.') == std::string_view::npos)
            return std::nullopt;
    }
}

} // namespace headscope::checkpoint
