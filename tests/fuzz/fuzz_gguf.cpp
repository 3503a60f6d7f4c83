#include "core/base/error.h"
#include "core/checkpoint/gguf/gguf_architecture.h"
#include "core/checkpoint/gguf/gguf_tokenizer.h"
#include "core/text/tokenizer/build.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

using namespace headscope;

namespace {

/// Runs `use` and says whether it was refused with an input error. Anything else it throws ends the program.
template<class Use>
bool accepted(Use use) {
    try {
        use();
        return true;
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::input || std::strlen(error.what()) == 0)
            std::abort();
        return false;
    }
}

void use_file(const checkpoint::GgufFile& file) {
    for (const checkpoint::GgufEntry& entry : file.entries())
        if (file.tensor(entry.name)->values().empty() || entry.end > file.size_bytes())
            std::abort();
    if (file.header_sha256().empty())
        std::abort();
    accepted([&] {
        const checkpoint::Architecture a = checkpoint::read_gguf_architecture(file);
        if (a.layers < 1 || a.H % a.Hkv != 0 || std::ssize(a.windows) != a.layers)
            std::abort();
    });
    accepted([&] {
        const auto tokenizer =
            text::build_tokenizer(checkpoint::gguf_tokenizer_description(file.metadata()), "input");
        const text::Encoding encoding = tokenizer->encode("a cab, \u00e4 2026");
        static_cast<void>(tokenizer->decode(encoding.ids, true));
    });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    std::optional<checkpoint::GgufFile> file;
    if (accepted([&] { file = checkpoint::GgufFile::from_bytes(bytes, "input"); }))
        use_file(*file);
    return 0;
}

void repair(std::string& input) {
    const std::string start("GGUF\3\0\0\0", 8);
    if (input.size() >= start.size())
        input.replace(0, start.size(), start);
}
