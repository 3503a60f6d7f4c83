#include "core/checkpoint/files/adapted.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/files/adapter.h"
#include "core/checkpoint/files/other_parts.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace headscope::checkpoint {

namespace {

/// A tensor of the base by one of its names.
struct BaseTensor {
    const TensorName* row;
    std::string name; ///< in the files, if they have it
};
using BaseTensors = std::map<std::string, BaseTensor, std::less<>>;

/// All names that a class of the base may use, with the tensors that they mean.
void add_tensors(const Architecture& a, const TensorFiles& files, BaseTensors& to) {
    for (const std::vector<TensorName>* rows : {&a.names.body, &a.names.cross})
        for (const TensorName& row : *rows)
            for (std::int64_t l = 0; l < (is_per_layer(row.weight) ? a.layers : 1); ++l) {
                if (!is_in_layer(row, a, l))
                    continue;
                std::vector<std::vector<std::string>> spellings;
                for (const std::string_view prefix : a.names.prefixes)
                    spellings.push_back(full_names(row, prefix, l, a));
                for (std::size_t i = 0; i < spellings.front().size(); ++i) {
                    std::string in_files = spellings.front()[i];
                    for (const std::vector<std::string>& names : spellings)
                        if (files.find(names[i]) != nullptr)
                            in_files = names[i];
                    for (const std::vector<std::string>& names : spellings)
                        to.insert_or_assign(names[i], BaseTensor{&row, in_files});
                }
            }
    for (const TensorName& row : a.names.head)
        to.insert_or_assign(row.name, BaseTensor{&row, row.name});
    for (const auto& [weight, twin] : a.names.twins)
        for (const std::vector<TensorName>* rows : {&a.names.body, &a.names.head})
            if (const TensorName* const row = find_row(*rows, weight);
                row != nullptr && files.find(twin) != nullptr)
                to.insert_or_assign(twin, BaseTensor{row, twin});
}

/// W + s B A in the layout of the file.
TensorPtr changed_weight(const TensorPtr& own, const Tensor& A, const Tensor& B, double scale,
                         bool transposed) {
    const ConstRows a(A.data(), A.shape()[0], A.shape()[1]), b(B.data(), B.shape()[0], B.shape()[1]);
    auto changed = std::make_shared<Tensor>(own->shape(), own->values());
    MutableRows w(changed->data(), own->shape()[0], own->shape()[1]);
    const auto s = static_cast<float>(scale);
    if (transposed)
        w.noalias() += s * (a.transpose() * b.transpose());
    else
        w.noalias() += s * (b * a);
    return changed;
}

/// Returns true if the name belongs to a numbered module, as those of layers do.
bool is_numbered(std::string_view name) {
    while (!name.empty()) {
        const std::size_t dot = std::min(name.find('.'), name.size());
        const std::string_view part = name.substr(0, dot);
        if (!part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; }))
            return true;
        name.remove_prefix(std::min(dot + 1, name.size()));
    }
    return false;
}

class Adapting {
public:
    Adapting(const Adapter& adapter, const Architecture& architecture, TensorFiles& files, Adapted& to)
        : adapter_(adapter), a_(architecture), files_(files), to_(to) {
        if (a_.encoder != nullptr)
            add_tensors(*a_.encoder_architecture, files_, tensors_);
        add_tensors(a_, files_, tensors_);
    }

    void run() {
        for (const Adapter::Product& product : adapter_.products())
            add(product);
        replace_tied();
        for (const Adapter::Replacement& replacement : adapter_.replacements())
            if (!done_.contains(replacement.name))
                replace(replacement);
        files_.add_sources(*adapter_.files());
        std::ranges::sort(to_.modules);
        to_.modules.erase(std::unique(to_.modules.begin(), to_.modules.end()), to_.modules.end());
    }

private:
    bool is_tied_table(TensorId weight) const {
        return a_.tied && (weight == TensorId::W_E || weight == TensorId::W_U);
    }

    [[noreturn]] void refuse_untied(const std::string& name) const {
        fail_input(
            tr("adapted.unties_tables",
               "{} changes {} alone, and {} has one table for the word embedding and the head; merge the "
               "adapter into its base with PEFT's merge_and_unload, and open what that saves",
               adapter_.folder(), name, to_.base));
    }

    /// The tensor in the base's files.
    const format::TensorEntry& entry_of(const std::string& name, const std::string& in_files) const {
        const format::TensorEntry* const entry = files_.find(in_files);
        if (entry == nullptr)
            fail_input(
                tr("adapted.base_lacks",
                   "{} changes {}, which {} does not have; name the folder of the adapter's own base with "
                   "--base",
                   adapter_.folder(), name, to_.base));
        return *entry;
    }

    void check_shape(const std::string& name, const std::vector<std::int64_t>& made_for,
                     const format::TensorEntry& entry) const {
        if (entry.extents != made_for)
            fail_input(tr("adapted.other_shape",
                          "{} was made for {} of shape {}, and {} has shape {} there; name the folder of the "
                          "adapter's own base with --base",
                          adapter_.folder(), name, extents_text(made_for), to_.base, entry.shape_text()));
    }

    void add(const Adapter::Product& product) {
        const std::string name = product.module + ".weight";
        const auto found = tensors_.find(name);
        if (found == tensors_.end() && other_part_of(name)) {
            to_.left_out.push_back(product.module);
            return;
        }
        if (found == tensors_.end())
            fail_input(
                tr("adapted.unknown_module",
                   "{} changes the module {}, which {} models do not have here; name the folder of the "
                   "adapter's own base with --base",
                   adapter_.folder(), product.module, a_.family));
        const auto& [row, in_files] = found->second;
        if (is_tied_table(row->weight))
            refuse_untied(name);
        const bool transposed = row->layout == Layout::conv1d || product.of_table;
        const std::vector<std::int64_t> A = adapter_.files()->find(product.A)->extents,
                                        B = adapter_.files()->find(product.B)->extents;
        check_shape(name, transposed ? std::vector{A[1], B[0]} : std::vector{B[0], A[1]},
                    entry_of(name, in_files));
        files_.change(in_files, [from = adapter_.files(), product, transposed](const TensorPtr& own) {
            return changed_weight(own, *from->tensor(product.A), *from->tensor(product.B), product.scale,
                                  transposed);
        });
        to_.changed.insert(in_files);
        to_.modules.push_back(product.module.substr(product.module.rfind('.') + 1));
        to_.rank = std::max(to_.rank, product.rank);
        to_.least_rank = to_.least_rank == 0 ? product.rank : std::min(to_.least_rank, product.rank);
    }

    /// A table that the base's embedding and head share may be replaced in both places by the same numbers.
    void replace_tied() {
        std::vector<const Adapter::Replacement*> tables;
        for (const Adapter::Replacement& replacement : adapter_.replacements())
            if (const auto found = tensors_.find(replacement.name);
                found != tensors_.end() && is_tied_table(found->second.row->weight))
                tables.push_back(&replacement);
        const TensorFiles& from = *adapter_.files();
        std::set<TensorId> replaced;
        for (const Adapter::Replacement* const table : tables) {
            done_.insert(table->name);
            replaced.insert(tensors_.find(table->name)->second.row->weight);
            if (!from.same_numbers(tables.front()->tensor, table->tensor))
                refuse_untied(table->name);
        }
        if (tables.empty())
            return;
        std::string own;
        for (const auto& [name, tensor] : tensors_)
            if (is_tied_table(tensor.row->weight) && files_.find(tensor.name) != nullptr)
                own = tensor.name;
        check_shape(tables.front()->name, from.find(tables.front()->tensor)->extents,
                    entry_of(tables.front()->name, own));
        const bool same =
            std::ranges::equal(from.tensor(tables.front()->tensor)->values(), files_.tensor(own)->values());
        if (same)
            return;
        if (replaced.size() < 2)
            refuse_untied(tables.front()->name);
        for (const auto& [name, tensor] : tensors_)
            if (is_tied_table(tensor.row->weight) && files_.find(tensor.name) != nullptr)
                put(tensor.name, tables.front()->tensor);
    }

    void put(const std::string& in_files, const std::string& tensor) {
        if (!to_.changed.insert(in_files).second)
            return;
        files_.change(in_files,
                      [from = adapter_.files(), tensor](const TensorPtr&) { return from->tensor(tensor); });
        to_.replaced.push_back(in_files);
    }

    void replace(const Adapter::Replacement& replacement) {
        const auto found = tensors_.find(replacement.name);
        // A head of a kind that is not computed, such as a classifier.
        if (found == tensors_.end() && (other_part_of(replacement.name) || !is_numbered(replacement.name))) {
            to_.left_out.push_back(replacement.name);
            return;
        }
        if (found == tensors_.end())
            fail_input(
                tr("adapted.unknown_tensor",
                   "{} replaces the tensor {}, which {} models do not have here; name the folder of the "
                   "adapter's own base with --base",
                   adapter_.folder(), replacement.name, a_.family));
        check_shape(replacement.name, adapter_.files()->find(replacement.tensor)->extents,
                    entry_of(replacement.name, found->second.name));
        put(found->second.name, replacement.tensor);
    }

    const Adapter& adapter_;
    const Architecture& a_;
    TensorFiles& files_;
    Adapted& to_;
    BaseTensors tensors_;
    std::set<std::string> done_;
};

} // namespace

Adapted adapt(const Adapter& adapter, const std::string& base, const Architecture& architecture,
              TensorFiles& files) {
    if (files.gguf() != nullptr)
        fail_input(
            tr("adapted.base_is_gguf",
               "{}: the base {} is a GGUF file, whose tensors have other names; name the folder of the "
               "model with config.json with --base",
               adapter.folder(), base));
    Adapted adapted;
    adapted.base = base;
    Adapting(adapter, architecture, files, adapted).run();
    return adapted;
}

} // namespace headscope::checkpoint
