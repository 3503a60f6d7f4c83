#include "core/checkpoint/files/other_files.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/base/random_access_file.h"
#include "core/checkpoint/files/tensor_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>
#include <string_view>

namespace headscope::checkpoint {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

namespace {

/// A kind of file that is known and not read.
struct OtherKind {
    std::string_view start; ///< first bytes; empty: known by its ending alone
    std::string_view ending;
    Message what, remedy;
};

constexpr Message save_again = translatable(
    "other_files.save_again",
    "save the model with save_pretrained(FOLDER), which writes safetensors and config.json, and open that "
    "folder");
constexpr Message from_tensorflow =
    translatable("other_files.from_tensorflow", "load it in Python with from_pretrained(FOLDER, "
                                                "from_tf=True), save it with save_pretrained, and open the "
                                                "new folder");
constexpr Message from_flax = translatable(
    "other_files.from_flax",
    "load it in Python with from_pretrained(FOLDER, from_flax=True), save it with save_pretrained, and open "
    "the new folder");
constexpr Message other_download =
    translatable("other_files.other_download",
                 "download the safetensors or .bin files of the same model, with config.json");
constexpr Message unpack = translatable("other_files.unpack", "unpack it, and open what is inside");
constexpr Message get_again =
    translatable("other_files.get_again", "get the file again; the address gave a page in its place");
constexpr Message fetch_large = translatable("other_files.fetch_large", "fetch the file with git lfs pull");
constexpr Message open_model = translatable(
    "other_files.open_model",
    "open the folder of a model: config.json with safetensors or PyTorch files, or a .gguf file");

constexpr std::array other_kinds{
    OtherKind{"\x89PNG"sv, ".png", translatable("other_files.picture", "a picture"), open_model},
    OtherKind{"\xFF\xD8\xFF"sv, ".jpg", translatable("other_files.picture", "a picture"), open_model},
    OtherKind{"GIF8"sv, ".gif", translatable("other_files.picture", "a picture"), open_model},
    OtherKind{"RIFF"sv, ".webp", translatable("other_files.media", "a picture or a sound"), open_model},
    OtherKind{"%PDF"sv, ".pdf", translatable("other_files.document", "a document"), open_model},
    OtherKind{
        "\x89HDF"sv, ".h5",
        translatable("other_files.hdf5", "a file of TensorFlow or Keras (HDF5), which is not read here"),
        from_tensorflow},
    OtherKind{""sv, ".msgpack",
              translatable("other_files.flax", "a file of Flax (msgpack), which is not read here"),
              from_flax},
    OtherKind{""sv, ".onnx",
              translatable("other_files.onnx",
                           "an ONNX file, which holds a graph of operations and is not read here"),
              other_download},
    OtherKind{""sv, ".tflite",
              translatable("other_files.tflite", "a TensorFlow Lite file, which is not read here"),
              other_download},
    OtherKind{""sv, ".mlmodel", translatable("other_files.coreml", "a Core ML file, which is not read here"),
              other_download},
    OtherKind{""sv, ".keras", translatable("other_files.keras", "a Keras file, which is not read here"),
              save_again},
    OtherKind{
        ""sv, ".npz",
        translatable("other_files.npz", "an archive of NumPy arrays (.npz), which is not read here"),
        translatable("other_files.from_npz",
                     "write its arrays as safetensors, with config.json or the description of a toy model "
                     "beside them; attention weights open as .npy")},
    OtherKind{"lmgg"sv, ".ggml", translatable("other_files.ggml", "a GGML file from before GGUF"),
              translatable("other_files.get_gguf", "get the model as a .gguf file")},
    OtherKind{"tjgg"sv, ".ggml", translatable("other_files.ggml", "a GGML file from before GGUF"),
              translatable("other_files.get_gguf", "get the model as a .gguf file")},
    OtherKind{"<!DOCTYPE"sv, ".html", translatable("other_files.page", "a web page"), get_again},
    OtherKind{"<!doctype"sv, ".html", translatable("other_files.page", "a web page"), get_again},
    OtherKind{"<html"sv, ".html", translatable("other_files.page", "a web page"), get_again},
    OtherKind{"version https://git-lfs"sv, "",
              translatable("other_files.pointer", "a pointer of Git LFS, not the file itself"), fetch_large},
    OtherKind{"\x1F\x8B"sv, ".gz", translatable("other_files.archive", "a compressed archive"), unpack},
    OtherKind{"PK\x03\x04"sv, ".zip", translatable("other_files.archive", "a compressed archive"), unpack},
    OtherKind{"7z\xBC\xAF"sv, ".7z", translatable("other_files.archive", "a compressed archive"), unpack},
    OtherKind{""sv, ".tar", translatable("other_files.archive", "a compressed archive"), unpack},
    OtherKind{""sv, ".py", translatable("other_files.program", "a program"), save_again},
    OtherKind{""sv, ".ipynb", translatable("other_files.program", "a program"), save_again},
};

std::string first_bytes(const std::string& path) {
    try {
        const RandomAccessFile file(path);
        constexpr std::size_t enough = 64;
        std::string start(std::min<std::uint64_t>(enough, file.size()), '\0');
        file.read(0, start);
        return start;
    } catch (const Error&) {
        return "";
    }
}

std::string ending_of(const fs::path& path) {
    std::string ending = path.extension().string();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
    return ending;
}

/// By the ending first, where it says more than the bytes: an .npz is a ZIP archive. A picture that is called
/// .bin is still one.
const OtherKind* other_kind_of(const fs::path& path, std::string_view start) {
    const std::string ending = ending_of(path);
    for (const OtherKind& kind : other_kinds)
        if (!kind.ending.empty() && kind.ending == ending &&
            (kind.start.empty() || start.empty() || start.starts_with(kind.start)))
            return &kind;
    for (const OtherKind& kind : other_kinds)
        if (!kind.start.empty() && start.starts_with(kind.start))
            return &kind;
    return nullptr;
}

std::string file_sentence(const std::string& path) {
    const std::string start = first_bytes(path);
    if (start.empty())
        return tr("other_files.empty_file", "{} is empty or cannot be read; get it again", path);
    if (const OtherKind* const kind = other_kind_of(path, start))
        // Translators: "image.png is a picture; open the folder of a model".
        return tr("other_files.is", "{} is {}; {}", path, tr(kind->what), tr(kind->remedy));
    if (ending_of(path) == ".gguf")
        return tr(
            "other_files.not_gguf",
            "{} is called a GGUF file and does not begin as one; it was cut short or is another file, get "
            "it again",
            path);
    return tr("other_files.unknown", "{} is not a file of a model that is known here; {}", path,
              tr(open_model));
}

std::string folder_sentence(const std::string& folder) {
    std::set<std::string> names;
    bool holds_folders = false;
    std::error_code fault;
    for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end; entry.increment(fault)) {
        names.insert(entry->path().filename().string());
        std::error_code ignored;
        holds_folders = holds_folders || entry->is_directory(ignored);
    }
    if (names.empty())
        return tr("other_files.empty_folder", "{} is an empty folder; {}", folder, tr(open_model));
    const auto has = [&](const char* name) { return names.contains(name); };
    if (has(adapter_config_name))
        return tr("other_files.adapter_without_weights",
                  "{} describes an adapter whose weights are missing; put adapter_model.safetensors or "
                  "adapter_model.bin into it",
                  folder);
    if (has("model_index.json"))
        return tr(
            "other_files.pipeline",
            "{} is a pipeline of several models that makes images, which is not read here; a text encoder "
            "in one of its folders may open by itself: {}/text_encoder",
            folder, folder);
    for (const OtherKind& kind : other_kinds)
        for (const std::string& name : names)
            if (!kind.ending.empty() && ending_of(name) == kind.ending && kind.ending != ".py" &&
                kind.ending != ".html")
                return tr("other_files.holds", "{} has no weights that are read here; {} in it is {}; {}",
                          folder, name, tr(kind.what), tr(kind.remedy));
    const bool tokenizer =
        std::ranges::any_of(std::array{"tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt",
                                       "spiece.model", "tokenizer_config.json"},
                            has);
    if (has("config.json"))
        return tr("other_files.no_weights",
                  "{} has no weights beside config.json: no model.safetensors, pytorch_model.bin or other "
                  "PyTorch file, and no index of several such files; download these too",
                  folder);
    if (tokenizer)
        return tr("other_files.tokenizer_only",
                  "{} holds a tokenizer and no model; headscope tokenize --tokenizer {} uses it, and a model "
                  "needs config.json and its weights beside it",
                  folder, folder);
    if (TensorFiles::are_in(folder))
        return tr("other_files.no_config",
                  "{} has weights and no config.json, which says what model they are; put the model's "
                  "config.json beside them, or describe them as a toy model",
                  folder);
    return tr("other_files.folder", "{} has neither config.json nor weights; {}", folder,
              holds_folders
                  ? tr("other_files.inner_folder", "open one of the folders in it, if that is a model")
                  : tr(open_model));
}

} // namespace

std::string other_path_sentence(const std::string& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
        return folder_sentence(path);
    if (!fs::exists(path, ignored))
        return tr("other_files.missing", "{} does not exist; {}", path, tr(open_model));
    if (!fs::is_regular_file(path, ignored))
        return tr("other_files.not_regular", "{} is neither a folder nor a file; {}", path, tr(open_model));
    return file_sentence(path);
}

} // namespace headscope::checkpoint
