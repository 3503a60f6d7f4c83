#include "app/commands/edit_commands.h"
#include "app/state/head_edits.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <map>

namespace headscope::app {

namespace {

void check_pair(const Dims& dims, std::int64_t a, std::int64_t b) {
    check_head(dims, a);
    check_head(dims, b);
    if (a == b)
        fail_input(tr("head_commands.head_one_named_name",
                      "head {} is the only one named; name two different heads", a));
}

std::vector<float> whole_gains(const Problem& problem) {
    std::vector<float> gains = problem.gains;
    gains.resize(static_cast<std::size_t>(problem.dims.H), 1.0F);
    return gains;
}

/// Collects writes to blocks; several blocks of one tensor form one edit.
class Edits {
public:
    explicit Edits(const Document& document) : document_(document) {}

    void write(const Block& block, const std::vector<float>& values) {
        TensorPtr& slot = edited_[block.tensor];
        slot = with_values(slot == nullptr ? *editable(document_, block.tensor) : *slot, block, values);
    }
    bool put_into(project::Recipe& recipe) const {
        bool edit_only = true;
        for (const auto& [id, tensor] : edited_)
            edit_only = put_edit(recipe, document_, id, tensor) && edit_only;
        return edit_only;
    }

private:
    const Document& document_;
    std::map<TensorId, TensorPtr> edited_;
};

/// Returns the other heads that share the key/value head of `head`: "2, 3".
std::string also_read_by(const Dims& dims, std::int64_t head, std::int64_t besides) {
    std::string list;
    for (std::int64_t h = 0; h < dims.H; ++h)
        if (h != head && h != besides && dims.kv_head(h) == dims.kv_head(head))
            list += (list.empty() ? "" : ", ") + std::to_string(h);
    return list;
}

std::string shared_detail(const Dims& dims, std::int64_t a, std::int64_t b, bool both) {
    const bool exist = std::min(a, b) >= 0 && std::max(a, b) < dims.H;
    if (!exist || dims.Hkv == dims.H)
        return {};
    if (dims.kv_head(a) == dims.kv_head(b))
        return tr("head_commands.k_v_shared_kept", "K, V shared: kept");
    std::string others = also_read_by(dims, b, a);
    if (both) {
        const std::string more = also_read_by(dims, a, b);
        others += (others.empty() || more.empty() ? "" : ", ") + more;
    }
    return others.empty() ? std::string{} : tr("head_commands.k_v_also", "K, V also of {}", others);
}

} // namespace

CommandName name_of(const Document& before, const CopyHead& c) {
    return {tr("head_commands.copy_head", "copy head {} to {}", c.from, c.to),
            shared_detail(before.problem.dims, c.from, c.to, false)};
}

CommandName name_of(const Document& before, const SwapHeads& c) {
    return {tr("head_commands.swap_heads", "swap heads {} and {}", c.a, c.b),
            shared_detail(before.problem.dims, c.a, c.b, true)};
}

CommandName name_of(const Document&, const ResetHead& c) {
    return {tr("head_commands.reset_head", "reset head {}", c.head), {}};
}

bool change(project::Recipe& recipe, const Document& document, const CopyHead& c) {
    const Problem& problem = document.problem;
    check_pair(problem.dims, c.from, c.to);
    const bool shared = problem.dims.kv_head(c.from) == problem.dims.kv_head(c.to);
    const auto from = blocks_of_head(problem, c.from), to = blocks_of_head(problem, c.to);
    Edits edits(document);
    for (std::size_t i = 0; i < from.size(); ++i)
        if (!from[i].keys_values || !shared)
            edits.write(to[i].block, values_of(*problem.input(from[i].block.tensor), from[i].block));
    if (!problem.gains.empty()) {
        recipe.gains = whole_gains(problem);
        recipe.gains[static_cast<std::size_t>(c.to)] = recipe.gains[static_cast<std::size_t>(c.from)];
    }
    return edits.put_into(recipe);
}

bool change(project::Recipe& recipe, const Document& document, const SwapHeads& c) {
    const Problem& problem = document.problem;
    check_pair(problem.dims, c.a, c.b);
    const bool shared = problem.dims.kv_head(c.a) == problem.dims.kv_head(c.b);
    const auto a = blocks_of_head(problem, c.a), b = blocks_of_head(problem, c.b);
    Edits edits(document);
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!a[i].keys_values || !shared) {
            const Tensor& now = *problem.input(a[i].block.tensor);
            edits.write(b[i].block, values_of(now, a[i].block));
            edits.write(a[i].block, values_of(now, b[i].block));
        }
    if (!problem.gains.empty()) {
        recipe.gains = whole_gains(problem);
        std::swap(recipe.gains[static_cast<std::size_t>(c.a)], recipe.gains[static_cast<std::size_t>(c.b)]);
    }
    return edits.put_into(recipe);
}

bool change(project::Recipe& recipe, const Document& document, const ResetHead& c) {
    const Problem& problem = document.problem;
    check_head(problem.dims, c.head);
    Edits edits(document);
    for (const HeadBlock& part : blocks_of_head(problem, c.head))
        if (recipe.edits.contains(part.block.tensor))
            edits.write(part.block, values_of(*document.unedited->input(part.block.tensor), part.block));
    if (!problem.gains.empty()) {
        recipe.gains = whole_gains(problem);
        recipe.gains[static_cast<std::size_t>(c.head)] = 1.0F;
    }
    return edits.put_into(recipe);
}

} // namespace headscope::app
