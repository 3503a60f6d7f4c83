#include "core/format/torch/torch_file.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/sha256.h"
#include "core/format/zip/zip_archive.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

namespace headscope::format {

namespace {

constexpr std::string_view zip_start = "PK\x03\x04";
constexpr std::string_view pickle_name = "/data.pkl";
constexpr std::size_t start_bytes = 64;
// More is taken for a damaged file: a tensor takes about 300 bytes.
constexpr std::uint64_t largest_pickle = std::uint64_t{1} << 26U;
// The number 0x1950a86a20f9469cfc6c, by which torch.save marks its older format.
constexpr std::string_view magic_number = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";

/// Returns true for the first bytes of a pickle of protocol 2 to 5.
bool begins_as_pickle(std::string_view start) {
    return start.size() >= 2 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5;
}

bool is_magic_number(const Pickle& pickle) {
    return pickle.at(pickle.root).text == magic_number;
}

/// Returns true for the first bytes of an archive whose first part is the pickle, and of a marked sequence.
bool begins_as_torch_file(std::string_view start) {
    constexpr std::size_t local_header = 30;
    if (start.starts_with(zip_start) && start.size() > local_header)
        return start.substr(local_header).find(pickle_name) != std::string_view::npos;
    return begins_as_pickle(start) && start.find(magic_number) != std::string_view::npos;
}

[[noreturn]] void fail_cut(const std::string& source) {
    fail_input(
        tr("torch_file.cut_short", "{} was cut short: its pickle does not end; get the file again", source));
}

[[noreturn]] void fail_big_endian(const std::string& source) {
    fail_input(tr("gguf_header.holds_numbers_highest_byte",
                  "{} holds its numbers with the highest byte first (big-endian), which is not read "
                  "here; get a little-endian file",
                  source));
}

/// The folder in the archive: that of its only data.pkl.
std::string archive_folder(const ZipArchive& archive, const std::string& source) {
    for (const std::string& name : archive.names())
        if (name.ends_with(pickle_name))
            return name.substr(0, name.size() - pickle_name.size() + 1);
    fail_input(
        tr("torch_file.archive_without_pickle",
           "{} is a ZIP archive, but not one that torch.save wrote: it has no data.pkl; name another file",
           source));
}

/// Pickles at the beginning of an older file.
struct Sequence {
    Pickle system, content, keys;
    std::size_t end = 0; ///< offset after the last pickle
};

/// Reads the pickles at the beginning of a file; nullopt if they do not end within `bytes`.
std::optional<Sequence> read_pickles(std::string_view bytes, const std::string& source) {
    std::array<std::optional<Pickle>, 5> all; // magic number, version, system, content, keys
    std::size_t at = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all.at(i) = read_pickle(bytes.substr(at), source);
        if (!all.at(i))
            return std::nullopt;
        if (i == 0 && !is_magic_number(*all[0]))
            fail_input(tr("torch_file.other_pickle",
                          "{} is a pickle, but not one that torch.save wrote; save the model with "
                          "torch.save(model.state_dict(), path)",
                          source));
        at += all.at(i)->bytes;
    }
    return Sequence{std::move(*all[2]), std::move(*all[3]), std::move(*all[4]), at};
}

bool is_big_endian(const Pickle& system) {
    const std::vector<PickleRef>& items = system.at(system.root).items;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2)
        if (const PickleValue& value = system.at(items[i + 1]);
            system.at(items[i]).text == "little_endian" && value.kind == PickleKind::boolean)
            return value.number == 0;
    return false;
}

/// Where the numbers of each storage begin: after the pickles, each has its count in 8 bytes before it.
std::map<std::string_view, std::uint64_t> place_storages(const Sequence& sequence, const ByteSource& bytes,
                                                         const std::string& source) {
    std::map<std::string_view, TorchStorage> storages;
    for (const TorchStorage& storage : torch_storages(sequence.content, source))
        storages.emplace(storage.key, storage);
    std::map<std::string_view, std::uint64_t> begins;
    std::uint64_t at = sequence.end;
    constexpr std::uint64_t count_bytes = 8;
    for (const PickleRef ref : sequence.keys.at(sequence.keys.root).items) {
        const auto storage = storages.find(sequence.keys.at(ref).text);
        const bool counted = at <= bytes.size() && bytes.size() - at >= count_bytes;
        if (storage == storages.end() || !counted ||
            little_endian(bytes.copy(at, count_bytes)) != storage->second.numbers ||
            storage->second.bytes() > bytes.size() - at - count_bytes)
            fail_input(tr("torch_file.storages_do_not_fit",
                          "{}: the numbers after its pickle do not fit the tensors in it; the file was cut "
                          "short or is damaged, get it again",
                          source));
        begins.emplace(storage->first, at + count_bytes);
        at += count_bytes + storage->second.bytes();
    }
    return begins;
}

} // namespace

TorchFile::TorchFile(ByteSource bytes, std::string source)
    : bytes_(std::move(bytes)), source_(std::move(source)) {
    const std::string start = bytes_.copy(0, std::min<std::uint64_t>(bytes_.size(), start_bytes));
    refuse_git_lfs_pointer(start, source_);
    if (start.starts_with(zip_start))
        read_archive();
    else if (begins_as_pickle(start))
        read_sequence();
    else
        fail_input(
            tr("torch_file.not_torch_file",
               "{} is not a PyTorch file: it begins neither as a ZIP archive nor as a pickle; name another "
               "file or get it again",
               source_));
}

void TorchFile::read_archive() {
    const ZipArchive archive(bytes_, source_);
    const std::string folder = archive_folder(archive, source_);
    if (archive.has(folder + "constants.pkl"))
        fail_input(tr("torch_file.torchscript",
                      "{} is a TorchScript program, not weights alone; save the model with "
                      "torch.save(model.state_dict(), path)",
                      source_));
    if (archive.has(folder + "byteorder")) {
        const ZipArchive::Range order = archive.range(folder + "byteorder");
        constexpr std::uint64_t longest_word = 16;
        if (bytes_.copy(order.begin, std::min(order.size, longest_word)) != "little")
            fail_big_endian(source_);
    }
    const ZipArchive::Range range = archive.range(folder + "data.pkl");
    const std::string bytes = bytes_.copy(range.begin, std::min(range.size, largest_pickle));
    const std::optional<Pickle> pickle = read_pickle(bytes, source_);
    if (!pickle)
        fail_cut(source_);
    const auto locate = [&](const TorchStorage& storage) {
        const ZipArchive::Range numbers = archive.range(folder + "data/" + std::string(storage.key));
        if (storage.bytes() > numbers.size)
            fail_input(tr("torch_file.part_too_small",
                          "{}: its part data/{} has {} bytes, and the tensors in it need {}; the file is "
                          "damaged, get it again",
                          source_, shown_name(storage.key), numbers.size, storage.bytes()));
        return numbers.begin;
    };
    entries_ = torch_tensors(*pickle, bytes_.size(), locate, source_);
    settings_ = torch_settings(*pickle);
    header_ = {{range.begin, pickle->bytes}, {archive.directory().begin, archive.directory().size}};
}

void TorchFile::read_sequence() {
    // The length of the pickles is not known before they are read.
    std::uint64_t tried = std::uint64_t{1} << 20U;
    std::string bytes = bytes_.copy(0, std::min(tried, bytes_.size()));
    std::optional<Sequence> sequence = read_pickles(bytes, source_);
    for (; !sequence && tried < std::min(bytes_.size(), largest_pickle);
         sequence = read_pickles(bytes, source_)) {
        tried *= 4;
        bytes = bytes_.copy(0, std::min(tried, bytes_.size()));
    }
    if (!sequence)
        fail_cut(source_);
    if (is_big_endian(sequence->system))
        fail_big_endian(source_);
    const std::map<std::string_view, std::uint64_t> begins = place_storages(*sequence, bytes_, source_);
    const auto locate = [&](const TorchStorage& storage) {
        const auto found = begins.find(storage.key);
        if (found == begins.end())
            fail_input(
                tr("torch_file.storage_missing",
                   "{}: the numbers of a tensor are missing after its pickle; the file is damaged, get "
                   "it again",
                   source_));
        return found->second;
    };
    entries_ = torch_tensors(sequence->content, bytes_.size(), locate, source_);
    settings_ = torch_settings(sequence->content);
    header_ = {{0, sequence->end}};
}

TorchFile TorchFile::from_bytes(std::string bytes, std::string source) {
    return {ByteSource::of_bytes(std::move(bytes)), std::move(source)};
}

TorchFile TorchFile::open_lazily(const std::string& path) {
    return {ByteSource::of_file(path), path};
}

const TorchEntry* TorchFile::find(std::string_view name) const {
    const auto row = std::ranges::lower_bound(entries_, name, {}, &TorchEntry::name);
    return row != entries_.end() && row->name == name ? &*row : nullptr;
}

std::string TorchFile::header_sha256() const {
    Sha256 hash;
    for (const Range& range : header_) {
        const std::string bytes = bytes_.copy(range.begin, range.size);
        hash.add(std::as_bytes(std::span(bytes)));
    }
    return hash.finish();
}

bool is_torch_file(const std::string& path) {
    // Bytes read from a pipe would be gone for the next reader.
    if (std::error_code none; !std::filesystem::is_regular_file(path, none))
        return false;
    try {
        const ByteSource file = ByteSource::of_file(path);
        return begins_as_torch_file(file.copy(0, std::min<std::uint64_t>(file.size(), start_bytes)));
    } catch (const Error&) {
        return false;
    }
}

bool has_torch_ending(const std::string& path) {
    constexpr std::array<std::string_view, 4> endings{".bin", ".pt", ".pth", ".ckpt"};
    return std::ranges::find(endings, std::filesystem::path(path).extension().string()) != endings.end();
}

} // namespace headscope::format
