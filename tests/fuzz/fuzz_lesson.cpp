#include "core/base/error.h"
#include "core/lesson/expression.h"
#include "core/lesson/formula.h"
#include "core/lesson/parse.h"
#include "tests/fuzz/target.h"

#include <cstdlib>
#include <string_view>

using namespace headscope;

namespace {

/// Runs a parser that may refuse the text with an Error of its input and nothing else.
template<class Parser>
void may_refuse(const Parser& parser) {
    try {
        parser();
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::input || std::string_view(error.what()).size() > 2000)
            std::abort();
    }
}

} // namespace

/// A lesson file, an expression or a formula; which, the first byte says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (text.starts_with('='))
        may_refuse([&] { lesson::Expression::parse(text.substr(1)).targets(); });
    else if (text.starts_with('$'))
        may_refuse([&] { lesson::parse_formula(text.substr(1)); });
    else
        for (const lesson::LessonFault& fault : lesson::parse_lesson(text, "fuzz.md").faults)
            if (fault.line < 1 || fault.sentence.empty())
                std::abort();
    return 0;
}

void repair(std::string&) {}
