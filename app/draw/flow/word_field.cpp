#include "app/draw/flow/word_field.h"

#include "app/state/word_place.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

bool add_word_field(Picture& picture, const DrawContext& context, const FlowWord& word, std::int64_t count,
                    const figure::Rect& place) {
    const Document& document = *context.shown.document;
    if (context.view.flow.edited != word || !context.controls)
        return false;
    const std::optional<WordPlace> found = word_place(document, word.word, word.of_second);
    if (!found)
        return false;
    constexpr float least = 90, beside = 34, high = 26;
    const float wide =
        std::max(context.measure(found->word(), figure::Font::mono, 13) + beside, std::max(least, place.w));
    const float left = std::max(place.right() - wide, 4.0F);
    TextField field{.area = {left, place.y + place.h / 2 - high / 2, wide, high},
                    .label = std::string(word.of_second ? "second word text " : "word text ") +
                             std::to_string(word.word),
                    .text = found->word(),
                    .action = [place = *found](const std::string& typed) -> Action {
                        if (place.with(typed).empty())
                            fail_input(tr("word_field.needs_word", "a text needs at least one word"));
                        return TypedWord{place, typed};
                    }};
    field.close = [] { return EditFlowWord{}; };
    field.next = [word, count](int by) {
        const std::int64_t to = word.word + by;
        return to < 0 || to >= count ? EditFlowWord{} : EditFlowWord{FlowWord{to, word.of_second}};
    };
    picture.fields.push_back(std::move(field));
    return true;
}

void add_word_hotspot(Picture& picture, const DrawContext& context, const figure::Rect& area,
                      std::string label, const FlowWord& word, bool in_focus, Action focuses,
                      std::string tip) {
    if (in_focus && has_typed_words(*context.shown.document))
        picture.add_hotspot(area, std::move(label), EditFlowWord{word},
                            tr("word_field.click_to_type", "Click or Enter: type another word here"));
    else
        picture.add_hotspot(area, std::move(label), std::move(focuses), std::move(tip));
}

} // namespace headscope::app
