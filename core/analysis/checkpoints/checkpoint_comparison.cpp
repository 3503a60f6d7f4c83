#include "core/analysis/checkpoints/checkpoint_comparison.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/checkpoint/files/adapter.h"
#include "core/checkpoint/files/local_models.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>

namespace headscope::analysis {

namespace {

using checkpoint::Model;
using checkpoint::TextModel;

void require_same_vocabulary(const TextModel& a, const TextModel& b) {
    if (a.tokenizer == nullptr || b.tokenizer == nullptr)
        return;
    const std::size_t count = std::min(a.tokenizer->vocabulary_size(), b.tokenizer->vocabulary_size());
    for (std::size_t n = 0; n < count; ++n) {
        const auto id = static_cast<text::TokenId>(n);
        if (const std::string_view from = a.tokenizer->token_text(id), to = b.tokenizer->token_text(id);
            from != to && !from.empty() && !to.empty())
            fail_input(tr("checkpoint_comparison.other_vocabulary",
                          "{} and {} have different vocabularies: token {} is {} and {}; compare two "
                          "checkpoints with one vocabulary",
                          a.model->path(), b.model->path(), n, from, to));
    }
}

/// The bytes of the edits for these tensors, as float32, and of the largest one, which is read twice.
std::uint64_t bytes_of_edits(const std::vector<ParameterDifference>& tensors) {
    double bytes = 0, largest = 0;
    for (const ParameterDifference& one : tensors) {
        double size = sizeof(float);
        for (const std::int64_t extent : one.extents)
            size *= static_cast<double>(extent);
        largest = std::max(largest, size);
        if (one.numbers.difference > 0)
            bytes += size;
    }
    return static_cast<std::uint64_t>(std::min(bytes + 2 * largest, 1e18));
}

/// Those that differ, the largest relative norm first.
std::vector<ChangedTensor> changed_tensors(std::vector<ParameterDifference> tensors, const Model& model) {
    std::erase_if(tensors, [](const ParameterDifference& one) { return one.numbers.difference == 0; });
    std::ranges::stable_sort(tensors, std::ranges::greater(), [](const ParameterDifference& one) {
        return one.numbers.relative().value_or(std::numeric_limits<double>::infinity());
    });
    const checkpoint::ParameterNames names(model);
    std::vector<ChangedTensor> changed;
    for (ParameterDifference& one : tensors) {
        const std::optional<checkpoint::HeldParameter> parameter = names.find(one.name);
        changed.push_back({std::move(one), parameter});
    }
    return changed;
}

/// Makes `a` the base of an adapter whose own base is not on this machine, until the object is destroyed.
class AdapterBase {
public:
    AdapterBase(const TextModel& a, const std::string& path)
        : path_(path), set_(checkpoint::is_adapter(path) && !checkpoint::find_adapter_base(path)) {
        if (set_)
            checkpoint::set_adapter_base(a.model->path(), path_);
    }
    ~AdapterBase() {
        if (set_)
            checkpoint::set_adapter_base("", path_);
    }
    AdapterBase(const AdapterBase&) = delete;
    AdapterBase& operator=(const AdapterBase&) = delete;

    bool is_set() const { return set_; }

private:
    std::string path_;
    bool set_;
};

/// Returns a sentence if an adapter has another base than the one that it names, or than `a`.
std::string note_on_base(const TextModel& a, const std::string& path, bool a_is_set) {
    if (!checkpoint::is_adapter(path))
        return {};
    const std::string name = checkpoint::checkpoint_name(path);
    const std::optional<std::string> base = checkpoint::find_adapter_base(path);
    if (a_is_set || !base)
        return tr("checkpoint_comparison.base_is_a",
                  "The base that the adapter {} names is not on this machine; {} is used in its place", name,
                  a.name());
    std::error_code none;
    if (*base == a.model->path() || std::filesystem::equivalent(*base, a.model->path(), none))
        return {};
    return tr("checkpoint_comparison.other_base",
              "{} is an adapter of {}, not of A; B is that model with the adapter", name,
              checkpoint::checkpoint_name(*base));
}

} // namespace

CheckpointComparison compare_checkpoints(const checkpoint::TextModelPtr& a, const std::string& path,
                                         Progress& progress) {
    constexpr float read = 0.5F;
    CheckpointComparison out;
    const AdapterBase base(*a, path);
    out.note = note_on_base(*a, path, base.is_set());
    const checkpoint::TextModelPtr b = checkpoint::open_text_model(path);
    progress.check();
    const CheckpointPair pair(*a->model, *b->model);
    require_same_vocabulary(*a, *b);
    progress.set_part(0, read);
    std::vector<ParameterDifference> tensors = pair.tensors(progress);
    progress.set_part(read, 1);
    require_memory(
        bytes_of_edits(tensors), tr("checkpoint_comparison.work", "the comparison with {}", b->name()),
        tr("checkpoint_comparison.advice", "close other programs, or compare smaller checkpoints"));
    out.edits = pair.edits(progress);
    if (out.edits.empty())
        fail_input(tr("checkpoint_comparison.same",
                      "{} and {} have the same parameters; choose another checkpoint", a->name(), b->name()));
    out.name = b->name();
    out.path = path;
    out.tensors = std::ssize(tensors);
    out.changed = changed_tensors(std::move(tensors), *a->model);
    return out;
}

} // namespace headscope::analysis
