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

void use_file(const checkpoint::GgufFile& file) {
    for (const checkpoint::GgufEntry& entry : file.entries())
        if (file.tensor(entry.name)->values().empty() || entry.end > file.size_bytes())
            std::abort();
    if (file.header_sha256().empty())
        std::abort();
    fuzz::accepted([&] {
        const checkpoint::Architecture a = checkpoint::read_gguf_architecture(file);
        if (a.layers < 1 || a.H % a.Hkv != 0 || std::ssize(a.windows) != a.layers)
            std::abort();
    });
    fuzz::accepted([&] {
        const auto tokenizer =
            text::build_tokenizer(checkpoint::gguf_tokenizer_description(file.metadata()), "input");
        const text::Encoding encoding = tokenizer->encode("a cab, \u00e4 2026");
        static_cast<void>(tokenizer->decode(encoding.ids, true));
    });
}

void repair_start(std::string& input) {
    const std::string start("GGUF\3\0\0\0", 8);
    if (input.size() >= start.size())
        input.replace(0, start.size(), start);
}

const fuzz::Registered gguf_target({.name = "gguf",
                                    .read =
                                        [](std::string_view bytes) {
                                            std::optional<checkpoint::GgufFile> file;
                                            if (fuzz::accepted([&] {
                                                    file = checkpoint::GgufFile::from_bytes(
                                                        std::string(bytes), "input");
                                                }))
                                                use_file(*file);
                                        },
                                    .repair = repair_start});

} // namespace
