#include "core/format/torch/torch_file.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <cmath>
#include <filesystem>
#include <limits>

using namespace headscope;
using namespace headscope::format;
using Catch::Contains;
using headscope::test::TemporaryFolder;
using Floats = std::vector<float>;

namespace {

const std::string torch_corpus = test_data("/corpus/torch/");

TorchFile open_good(const std::string& name) {
    return TorchFile::open_lazily(torch_corpus + "good_" + name + ".pt");
}

std::string refusal(const std::string& name) {
    return input_error(
        [&] { static_cast<void>(TorchFile::open_lazily(torch_corpus + "bad_" + name + ".pt")); });
}

std::string names_in(const TorchFile& file) {
    std::string names;
    for (const TorchEntry& entry : file.entries())
        names += entry.name + entry.shape_text() + " ";
    return names;
}

Floats numbers_of(const TorchFile& file, const std::string& name) {
    const TensorPtr tensor = file.tensor(name);
    return {tensor->values().begin(), tensor->values().end()};
}

std::string text_operation(std::string_view text) {
    return "U" + std::string(1, static_cast<char>(text.size())) + std::string(text);
}

std::string number_operation(std::int64_t number) {
    return "L" + std::to_string(number) + "L\n";
}

std::string tuple_operation(const std::vector<std::int64_t>& numbers) {
    std::string all = "(";
    for (const std::int64_t number : numbers)
        all += number_operation(number);
    return all + "t";
}

/// A file in the older format with the tensor "w", a view of a storage of the numbers 0, 1, 2, ...
TorchFile view_of(std::int64_t count, std::int64_t offset, const std::vector<std::int64_t>& shape,
                  const std::vector<std::int64_t>& strides) {
    std::string bytes("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}.", 25);
    bytes += "}" + text_operation("w") + "ctorch._utils\n_rebuild_tensor_v2\n((" + text_operation("storage") +
             "ctorch\nFloatStorage\n" + text_operation("0") + text_operation("cpu") +
             number_operation(count) + "NtQ" + number_operation(offset) + tuple_operation(shape) +
             tuple_operation(strides) + "tRs.]" + text_operation("0") + "a.";
    bytes.append(reinterpret_cast<const char*>(&count), sizeof(count));
    for (std::int64_t i = 0; i < count; ++i) {
        const auto number = static_cast<float>(i);
        bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
    }
    return TorchFile::from_bytes(bytes, "view");
}

} // namespace

TEST_CASE("the corpus of PyTorch files is accepted or refused as its names say", "[torch]") {
    int good = 0, bad = 0;
    for (const auto& entry : std::filesystem::directory_iterator(torch_corpus)) {
        const std::string name = entry.path().filename().string();
        const std::string message =
            input_error([&] { static_cast<void>(TorchFile::open_lazily(entry.path().string())); });
        INFO(name << ": " << message);
        CHECK(message.empty() == name.starts_with("good_"));
        if (!message.empty())
            CHECK(message.find(name) != std::string::npos);
        ++(name.starts_with("good_") ? good : bad);
    }
    CHECK(good >= 30);
    CHECK(bad >= 95);
}

TEST_CASE("a pickle that asks for anything but tensors and containers is refused by name", "[torch]") {
    CHECK_THAT(refusal("os_system"), Contains("asks to run os.system,") && Contains("nothing was run"));
    CHECK_THAT(refusal("posix_system"), Contains("asks to run posix.system,"));
    CHECK_THAT(refusal("eval"), Contains("asks to run builtins.eval,"));
    CHECK_THAT(refusal("eval_older"), Contains("asks to run __builtin__.eval,"));
    CHECK_THAT(refusal("eval_stack_global"), Contains("asks to run builtins.eval,"));
    CHECK_THAT(refusal("torch_load"), Contains("asks to run torch.load,"));
    CHECK_THAT(refusal("torch_dotted"), Contains("asks to run torch.hub.load.__,"));
    CHECK_THAT(refusal("instance"), Contains("asks to run os.system,"));
    CHECK_THAT(refusal("global_only"), Contains("asks to run subprocess.Popen,"));
    CHECK_THAT(refusal("long_name"), Contains("aaa...") && Contains("bbb..."));
    for (const char* name : {"reduce_string", "reduce_type", "newobj_string", "build_tensor", "memo_missing",
                             "memo_negative", "below_mark", "append_string", "instance_known"})
        CHECK_THAT(refusal(name), Contains("does not fit the ones before it"));
    CHECK_THAT(refusal("extension"), Contains("is 130, an operation that torch.save does not write"));
}

TEST_CASE("a damaged PyTorch file is refused with its problem", "[torch]") {
    CHECK_THAT(refusal("cut"), Contains("was cut short: it begins as a ZIP archive"));
    CHECK_THAT(refusal("no_stop"), Contains("its pickle does not end"));
    CHECK_THAT(refusal("count_huge"), Contains("its pickle does not end"));
    CHECK_THAT(refusal("older_cut"), Contains("cut short or is damaged"));
    CHECK_THAT(refusal("older_counts"), Contains("do not fit the tensors in it"));
    CHECK_THAT(refusal("offset_beyond"),
               Contains("tensor w of shape (2, 3) has numbers outside its storage of 6"));
    CHECK_THAT(refusal("stride_beyond"), Contains("outside its storage"));
    CHECK_THAT(refusal("shape_huge"), Contains("outside its storage"));
    CHECK_THAT(refusal("expanded_huge"), Contains("larger than the whole file"));
    CHECK_THAT(refusal("numbers_missing"), Contains("the part archive/data/0 is missing"));
    CHECK_THAT(refusal("numbers_short"), Contains("has 23 bytes, and the tensors in it need 24"));
    CHECK_THAT(refusal("deflated"), Contains("archive/data.pkl is compressed") && Contains("zip -0"));
    CHECK_THAT(refusal("big_endian"), Contains("big-endian"));
    CHECK_THAT(refusal("older_big_endian"), Contains("big-endian"));
    CHECK_THAT(refusal("torchscript"), Contains("TorchScript"));
    CHECK_THAT(refusal("sparse"), Contains("tensor w is sparse") && Contains("to_dense"));
    CHECK_THAT(refusal("quantized"), Contains("tensor w is quantized"));
    CHECK_THAT(refusal("quantized_storage"), Contains("tensor w has qint8 numbers"));
    CHECK_THAT(refusal("complex128"), Contains("tensor w has complex128 numbers"));
    CHECK_THAT(refusal("negated"), Contains("negated"));
    CHECK_THAT(refusal("no_tensors"), Contains("no tensors with names"));
    CHECK_THAT(refusal("plain_pickle"), Contains("not one that torch.save wrote"));
    CHECK_THAT(refusal("other_zip"), Contains("no data.pkl"));
    CHECK_THAT(refusal("text"), Contains("neither as a ZIP archive nor as a pickle"));
    CHECK_THAT(refusal("git_lfs"), Contains("git lfs pull"));
    CHECK_THAT(refusal("twice"), Contains("directory"));
}

TEST_CASE("every storage type of PyTorch has its number type, and floats their values", "[torch]") {
    for (const char* name : {"all_types", "older_types"}) {
        const TorchFile file = open_good(name);
        CHECK(numbers_of(file, "f32") == Floats{0.25F});
        CHECK(numbers_of(file, "f16") == Floats{1, 0x1p-24F, -65504});
        CHECK(numbers_of(file, "bf16") == Floats{1, -std::numeric_limits<float>::infinity()});
        CHECK_THAT(input_error([&] { static_cast<void>(file.tensor("f64")); }),
                   Contains("number 1 of tensor f64 is -1e+300, which float32 cannot hold"));
        Floats two(2);
        file.read_numbers("f64", 0, two);
        CHECK((two[0] == 0.1F && std::isinf(two[1])));
        for (const auto& [tensor, dtype] : {std::pair("i64", "I64"),
                                            {"i32", "I32"},
                                            {"i16", "I16"},
                                            {"i8", "I8"},
                                            {"u8", "U8"},
                                            {"bool", "BOOL"},
                                            {"c64", "C64"}}) {
            CHECK(file.find(tensor)->dtype == dtype);
            CHECK_THAT(input_error([&, name = tensor] { static_cast<void>(file.tensor(name)); }),
                       Contains(std::string("is ") + dtype + "; store it as F32"));
        }
    }
    const TorchFile file = open_good("all_types");
    CHECK(file.find("f8")->dtype == "F8_E4M3");
    CHECK(file.find("u8_untyped")->dtype == "U8");
    CHECK_THAT(input_error([&] { static_cast<void>(file.tensor("none")); }), Contains("has no tensor none"));
}

TEST_CASE("tensors are found inside what a trainer saved", "[torch]") {
    for (const char* name :
         {"state", "zip64", "little", "wrapped", "wrapped_twice", "module", "prefixed", "skipped_sparse",
          "older", "protocol_1", "protocol_3", "protocol_4", "protocol_5"}) {
        INFO(name);
        const TorchFile file = open_good(name);
        CHECK_THAT(names_in(file), Contains("b(1) w(2, 3) "));
        CHECK(numbers_of(file, "b") == Floats{7});
        CHECK(numbers_of(file, "w") ==
              Floats{1.5F, -2, std::numeric_limits<float>::infinity(), 1e-40F, 5, 6});
    }
    for (const char* name : {"mixed", "mixed_5", "parameter", "first_rebuild", "cycle"})
        CHECK(names_in(open_good(name)) == "w(2, 3) ");
    CHECK(numbers_of(open_good("pairs"), "w") == Floats{7});
    CHECK(numbers_of(open_good("deep"), "w") == Floats{7});
}

TEST_CASE("views of a storage give the numbers that PyTorch sees", "[torch]") {
    const TorchFile shared = open_good("shared");
    CHECK(shared.find("a")->begin == shared.find("b")->begin);
    CHECK(numbers_of(shared, "c") == Floats{5, 6});
    const float far = std::numeric_limits<float>::infinity();
    CHECK(numbers_of(open_good("transposed"), "w") == Floats{1.5F, 1e-40F, -2, 5, far, 6});
    CHECK_FALSE(open_good("transposed").find("w")->contiguous);
    const TorchFile sliced = open_good("sliced");
    CHECK(numbers_of(sliced, "w") == Floats{1.5F, far, 1e-40F, 6});
    CHECK(numbers_of(sliced, "column") == Floats{-2, 5});
    CHECK(numbers_of(sliced, "cube") == Floats{1.5F, far, 5, -2, 1e-40F, 6});
    CHECK(numbers_of(open_good("expanded"), "w") == Floats(12, 7));
    CHECK(numbers_of(open_good("empty"), "w").empty());
    CHECK(open_good("scalar").tensor("w")->shape() == Shape());
    CHECK(numbers_of(open_good("older_view"), "w") == Floats{2, 3, 4});
    CHECK(numbers_of(open_good("older_4"), "x") == Floats{1.5F, 1e-40F, -2, 5, far, 6});
    CHECK(error_kind([&] {
              Floats to(1);
              open_good("transposed").read_numbers("w", 0, to);
          }) == ErrorKind::internal);
}

TEST_CASE("large views of any strides give the numbers of their positions", "[torch]") {
    struct View {
        std::int64_t count, offset;
        std::vector<std::int64_t> shape, strides;
    };
    const std::vector<View> views{
        {420'000, 0, {600, 700}, {1, 600}},                  // transposed, larger than one window
        {900'000, 0, {3, 300'000}, {1, 3}},                  // transposed with a long axis
        {900'001, 1, {300'000}, {3}},                        // every third number
        {400'027, 5, {5, 4}, {100'000, 7}},                  // far apart
        {1'000, 0, {600, 400}, {0, 1}},                      // expanded
        {1'000, 9, {400, 600}, {1, 0}},                      // expanded and transposed
        {360'000, 0, {20, 30, 60, 10}, {10, 200, 6'000, 1}}, // axes exchanged
        {600'000, 3, {7, 2, 11}, {50'000, 290'000, 13}},
        {90'000, 0, {300, 1, 300}, {1, 7, 300}},
        {300'000, 0, {2, 150'000}, {150'000, 1}}, // contiguous
    };
    for (const View& view : views) {
        const TorchFile file = view_of(view.count, view.offset, view.shape, view.strides);
        const TensorPtr tensor = file.tensor("w");
        std::vector<std::int64_t> at(view.shape.size(), 0);
        std::int64_t wrong = 0;
        for (const float number : tensor->values()) {
            std::int64_t position = view.offset;
            for (std::size_t axis = 0; axis < at.size(); ++axis)
                position += at[axis] * view.strides[axis];
            wrong += number == static_cast<float>(position) ? 0 : 1;
            for (std::size_t axis = at.size(); axis-- > 0 && ++at[axis] == view.shape[axis];)
                at[axis] = 0;
        }
        INFO("a view of shape " << tensor->shape().text());
        CHECK(wrong == 0);
    }
}

TEST_CASE("a PyTorch file is recognized by its content or its ending", "[torch]") {
    const TemporaryFolder folder;
    const auto file = [&](const std::string& name, std::string_view bytes) {
        write_file_atomically(folder.file(name), bytes);
        return is_torch_file(folder.file(name));
    };
    CHECK(is_torch_file(torch_corpus + "good_state.pt"));
    CHECK(is_torch_file(torch_corpus + "good_older_4.pt"));
    CHECK_FALSE(is_torch_file(torch_corpus + "bad_other_zip.pt"));
    CHECK_FALSE(file("a.pt", ""));
    CHECK_FALSE(file("pickle", read_file(torch_corpus + "bad_plain_pickle.pt")));
    CHECK_FALSE(is_torch_file(folder.file("nowhere")));
    CHECK((has_torch_ending("a/b.ckpt") && has_torch_ending("pytorch_model.bin")));
    CHECK_FALSE(has_torch_ending("a.bin/model.safetensors"));
}

TEST_CASE("the digest of a PyTorch file's header depends on its numbers' checksums", "[torch]") {
    const std::string bytes = read_file(torch_corpus + "good_state.pt");
    const std::string own = TorchFile::from_bytes(bytes, "file").header_sha256();
    CHECK(own == open_good("state").header_sha256());
    CHECK(own != open_good("protocol_3").header_sha256());
    std::string changed = bytes;
    constexpr std::size_t place_of_checksum = 16;
    changed[changed.rfind("PK\x01\x02") + place_of_checksum] ^= 1;
    CHECK(own != TorchFile::from_bytes(changed, "file").header_sha256());
}
