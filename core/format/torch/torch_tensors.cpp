#include "core/format/torch/torch_tensors.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/format/byte_source.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace headscope::format {

namespace {

constexpr std::size_t most_torch_axes = 8;
constexpr std::array<std::string_view, 4> wrappers{"state_dict", "model_state_dict", "model", "module"};
constexpr std::array<std::string_view, 2> prefixes{"module.", "_orig_mod."};

bool is_tensor(const PickleValue& value) {
    return value.kind == PickleKind::call;
}

bool is_sequence(const PickleValue& value) {
    return value.kind == PickleKind::tuple || value.kind == PickleKind::list;
}

/// Calls `use` with the key and the value of each entry whose key is a string.
template<class Use>
void for_each_entry(const Pickle& pickle, PickleRef dictionary, const Use& use) {
    const std::vector<PickleRef>& items = pickle.at(dictionary).items;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2)
        if (const PickleValue& key = pickle.at(items[i]); key.kind == PickleKind::string)
            use(key.text, items[i + 1]);
}

/// The tensors of a dictionary by name; of equal names the last, as in Python.
std::map<std::string, PickleRef, std::less<>> named_tensors(const Pickle& pickle, PickleRef dictionary) {
    std::map<std::string, PickleRef, std::less<>> found;
    for_each_entry(pickle, dictionary, [&](std::string_view key, PickleRef ref) {
        if (is_tensor(pickle.at(ref)))
            found.insert_or_assign(std::string(key), ref);
        else if (const auto before = found.find(key); before != found.end())
            found.erase(before);
    });
    return found;
}

std::optional<PickleRef> wrapped_tensors(const Pickle& pickle, PickleRef dictionary) {
    std::array<std::optional<PickleRef>, wrappers.size()> inside;
    for_each_entry(pickle, dictionary, [&](std::string_view key, PickleRef ref) {
        if (const auto* const row = std::ranges::find(wrappers, key); row != wrappers.end())
            inside.at(static_cast<std::size_t>(row - wrappers.begin())) = ref;
    });
    const auto holds_tensors = [&](PickleRef ref) {
        if (pickle.at(ref).kind != PickleKind::dictionary)
            return false;
        bool holds = false;
        for_each_entry(pickle, ref, [&](std::string_view, PickleRef inner) {
            holds =
                holds || is_tensor(pickle.at(inner)) ||
                (pickle.at(inner).kind == PickleKind::dictionary && !named_tensors(pickle, inner).empty());
        });
        return holds;
    };
    for (const std::optional<PickleRef>& ref : inside)
        if (ref && holds_tensors(*ref))
            return ref;
    return std::nullopt;
}

void remove_prefixes(std::vector<TorchEntry>& entries) {
    for (bool again = true; again;) {
        again = false;
        for (const std::string_view prefix : prefixes)
            if (!entries.empty() && std::ranges::all_of(entries, [&](const TorchEntry& entry) {
                    return entry.name.size() > prefix.size() && entry.name.starts_with(prefix);
                })) {
                for (TorchEntry& entry : entries)
                    entry.name.erase(0, prefix.size());
                again = true;
            }
    }
}

[[noreturn]] void fail_storage(const std::string& source) {
    fail_input(
        tr("torch_tensors.storage_not_described",
           "{}: a tensor's storage is not described as torch.save describes it; the file is damaged, get "
           "it again",
           source));
}

std::uint64_t size_number(const PickleValue& value, const std::string& source) {
    if (value.kind != PickleKind::integer || value.number < 0)
        fail_storage(source);
    return static_cast<std::uint64_t>(value.number);
}

/// A storage by the id that torch.save writes for it: ("storage", class, key, device, numbers), in the older
/// format followed by None or (name, first, numbers) of a part of it.
TorchStorage read_storage(const Pickle& pickle, const PickleValue& reference, const std::string& source) {
    const std::vector<PickleRef>& id = pickle.at(reference.items.front()).items;
    const auto is_storage = [&] {
        return id.size() >= 5 && pickle.at(id[0]).kind == PickleKind::string &&
               pickle.at(id[0]).text == "storage" && pickle.at(id[1]).kind == PickleKind::global &&
               pickle.at(id[1]).global->use == GlobalUse::number_type &&
               pickle.at(id[2]).kind == PickleKind::string;
    };
    if (!is_storage())
        fail_storage(source);
    TorchStorage storage{.key = pickle.at(id[2]).text,
                         .type = pickle.at(id[1]).global,
                         .numbers = size_number(pickle.at(id[4]), source)};
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(storage.numbers, storage.type->width, &bytes))
        fail_storage(source);
    storage.used = storage.numbers;
    if (id.size() > 5 && pickle.at(id[5]).kind == PickleKind::tuple) {
        const std::vector<PickleRef>& part = pickle.at(id[5]).items;
        if (part.size() != 3)
            fail_storage(source);
        storage.first = size_number(pickle.at(part[1]), source);
        storage.used = size_number(pickle.at(part[2]), source);
        if (storage.first > storage.numbers || storage.used > storage.numbers - storage.first)
            fail_storage(source);
    }
    return storage;
}

class TensorReader {
public:
    TensorReader(const Pickle& pickle, std::uint64_t file_bytes,
                 const std::function<std::uint64_t(const TorchStorage&)>& locate, const std::string& source)
        : pickle_(pickle), file_bytes_(file_bytes), locate_(locate), source_(source) {}

    TorchEntry read(const std::string& name, PickleRef ref) {
        where_ = tr("common.tensor", "{}: tensor {}", source_, shown_name(name));
        const PickleValue& rebuilt = tensor_of(ref);
        const std::vector<PickleRef>& arguments = pickle_.at(rebuilt.items.front()).items;
        const bool typed = rebuilt.global->use == GlobalUse::typed_tensor;
        if (arguments.size() < (typed ? 7 : 4) || pickle_.at(arguments[0]).kind != PickleKind::storage)
            fail_damaged();
        refuse_pending_negation(arguments, typed ? 7 : 6);
        const TorchStorage storage = read_storage(pickle_, pickle_.at(arguments[0]), source_);
        const TorchGlobal* type = storage.type;
        if (typed) {
            const PickleValue& named = pickle_.at(arguments[6]);
            if (named.kind != PickleKind::global || named.global->use != GlobalUse::number_type)
                fail_damaged();
            type = named.global;
        }
        TorchEntry entry;
        entry.name = name;
        entry.type = find_safetensors_type(type->dtype);
        if (entry.type == nullptr)
            fail_input(tr("torch_tensors.type_not_read",
                          "{} has {} numbers, which are not read here; store it as float32", where_,
                          type->dtype));
        entry.dtype = entry.type->safetensors;
        entry.extents = read_numbers(arguments[2]);
        entry.strides = read_numbers(arguments[3]);
        const std::int64_t first = number(arguments[1]);
        place(entry, storage, first);
        return entry;
    }

private:
    [[noreturn]] void fail_damaged() const {
        fail_input(tr("torch_tensors.not_described",
                      "{} is not described as torch.save describes one; the file is damaged, get it again",
                      where_));
    }

    /// The tensor of a parameter, or of a tensor itself. A tuple is made after its elements, so this ends.
    const PickleValue& tensor_of(PickleRef ref) const {
        const PickleValue* value = &pickle_.at(ref);
        while (is_tensor(*value) && value->global->use == GlobalUse::parameter) {
            const std::vector<PickleRef>& arguments = pickle_.at(value->items.front()).items;
            if (arguments.empty())
                fail_damaged();
            value = &pickle_.at(arguments.front());
        }
        if (!is_tensor(*value))
            fail_damaged();
        if (value->global->use == GlobalUse::sparse)
            fail_input(tr("torch_tensors.sparse",
                          "{} is sparse, and only dense tensors are read here; store tensor.to_dense()",
                          where_));
        if (value->global->use == GlobalUse::quantized)
            fail_input(tr("torch_tensors.quantized",
                          "{} is quantized by PyTorch, which is not read here; store tensor.dequantize()",
                          where_));
        return *value;
    }

    /// The last argument may say that the numbers still have to be negated or conjugated.
    void refuse_pending_negation(const std::vector<PickleRef>& arguments, std::size_t at) const {
        if (arguments.size() <= at || pickle_.at(arguments[at]).kind != PickleKind::dictionary)
            return;
        bool pending = false;
        for_each_entry(pickle_, arguments[at], [&](std::string_view, PickleRef value) {
            pending =
                pending || (pickle_.at(value).kind == PickleKind::boolean && pickle_.at(value).number != 0);
        });
        if (pending)
            fail_input(tr("torch_tensors.pending_negation",
                          "{} is a negated or conjugated view, which is not read here; store tensor.clone()",
                          where_));
    }

    std::int64_t number(PickleRef ref) const {
        const PickleValue& value = pickle_.at(ref);
        if (value.kind != PickleKind::integer || value.number < 0)
            fail_damaged();
        return value.number;
    }

    std::vector<std::int64_t> read_numbers(PickleRef ref) const {
        const PickleValue& value = pickle_.at(ref);
        if (!is_sequence(value) || value.items.size() > most_torch_axes)
            fail_damaged();
        std::vector<std::int64_t> numbers;
        for (const PickleRef item : value.items)
            numbers.push_back(number(item));
        return numbers;
    }

    /// Finds the tensor in the file and checks that its storage has all of its numbers.
    void place(TorchEntry& entry, const TorchStorage& storage, std::int64_t first) const {
        if (entry.strides.size() != entry.extents.size())
            fail_damaged();
        // The other extents must not overflow even if one is 0: later code multiplies them in any order.
        std::int64_t bytes = 8, last = first, step = 1;
        bool overflow = false, empty = false;
        entry.contiguous = true;
        for (std::size_t axis = entry.extents.size(); axis-- > 0;) {
            const std::int64_t extent = entry.extents[axis], stride = entry.strides[axis];
            std::int64_t span = 0;
            empty = empty || extent == 0;
            overflow = overflow || __builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes) ||
                       __builtin_mul_overflow(std::max<std::int64_t>(extent, 1) - 1, stride, &span) ||
                       __builtin_add_overflow(last, span, &last);
            entry.contiguous = entry.contiguous && (extent <= 1 || stride == step);
            step = overflow ? 0 : step * std::max<std::int64_t>(extent, 1);
        }
        const std::uint64_t width = storage.type->width;
        std::uint64_t end = 0;
        overflow = overflow || __builtin_add_overflow(static_cast<std::uint64_t>(last), 1U, &end) ||
                   __builtin_mul_overflow(end, std::uint64_t{entry.type->width}, &end);
        if (overflow || (!empty && end > storage.used * width))
            fail_input(
                tr("torch_tensors.outside_storage",
                   "{} of shape {} has numbers outside its storage of {} numbers; the file is damaged, "
                   "get it again",
                   where_, entry.shape_text(), storage.used));
        // An expanded tensor has each of its numbers many times.
        constexpr std::uint64_t always_granted = mebibyte;
        if (!empty &&
            static_cast<std::uint64_t>(bytes) / 8 * entry.type->width > std::max(always_granted, file_bytes_))
            fail_input(tr("torch_tensors.larger_than_file",
                          "{} of shape {} is larger than the whole file, since it repeats its numbers; store "
                          "only what is repeated",
                          where_, entry.shape_text()));
        entry.contiguous = entry.contiguous || empty;
        if (!empty)
            entry.begin = locate_(storage) + storage.first * width +
                          static_cast<std::uint64_t>(first) * entry.type->width;
    }

    const Pickle& pickle_;
    std::uint64_t file_bytes_;
    const std::function<std::uint64_t(const TorchStorage&)>& locate_;
    const std::string& source_;
    std::string where_;
};

} // namespace

std::vector<TorchStorage> torch_storages(const Pickle& pickle, const std::string& source) {
    std::vector<TorchStorage> all;
    for (const PickleValue& value : pickle.values)
        if (value.kind == PickleKind::storage)
            all.push_back(read_storage(pickle, value, source));
    return all;
}

TorchSettings torch_settings(const Pickle& pickle) {
    TorchSettings settings;
    if (pickle.at(pickle.root).kind != PickleKind::dictionary)
        return settings;
    constexpr std::size_t most = 100;
    for_each_entry(pickle, pickle.root, [&](std::string_view outer, PickleRef ref) {
        if (pickle.at(ref).kind != PickleKind::dictionary)
            return;
        std::size_t count = 0;
        for_each_entry(pickle, ref, [&](std::string_view key, PickleRef inner) {
            const PickleValue& value = pickle.at(inner);
            if (value.kind != PickleKind::integer && value.kind != PickleKind::boolean)
                return;
            if (++count <= most)
                settings.insert_or_assign(std::string(outer) + "." + std::string(key), value.number);
        });
    });
    return settings;
}

std::vector<TorchEntry> torch_tensors(const Pickle& pickle, std::uint64_t file_bytes,
                                      const std::function<std::uint64_t(const TorchStorage&)>& locate,
                                      const std::string& source) {
    PickleRef dictionary = pickle.root;
    constexpr int most_wrappers = 4;
    for (int i = 0; i < most_wrappers && pickle.at(dictionary).kind == PickleKind::dictionary; ++i)
        if (const auto inside = wrapped_tensors(pickle, dictionary))
            dictionary = *inside;
    const auto named = pickle.at(dictionary).kind == PickleKind::dictionary
                           ? named_tensors(pickle, dictionary)
                           : std::map<std::string, PickleRef, std::less<>>();
    if (named.empty())
        fail_input(
            tr("torch_tensors.no_named_tensors",
               "{} has no tensors with names; save the model with torch.save(model.state_dict(), path)",
               source));
    TensorReader reader(pickle, file_bytes, locate, source);
    std::vector<TorchEntry> entries;
    for (const auto& [name, ref] : named)
        entries.push_back(reader.read(name, ref));
    remove_prefixes(entries);
    return entries;
}

} // namespace headscope::format
