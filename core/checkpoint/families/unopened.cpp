#include "core/checkpoint/families/unopened.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/families/families.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace headscope::checkpoint {

namespace {

/// A kind of model that is known and not computed.
struct UnopenedType {
    std::string_view type;
    Message reason; ///< completes "because ..."
    std::string_view nearest;
};

constexpr Message chosen_experts =
    translatable("unopened.experts_chosen_shared",
                 "their experts are chosen or weighted in a way that is not computed here");
constexpr Message relative_scores = translatable("unopened.scores_depend_distance",
                                                 "their scores depend on distances through queries and keys");
constexpr Message other_input =
    translatable("unopened.read_images_sound", "they read images or sound, not a text");
constexpr Message images_inside = translatable(
    "unopened.layers_read_images", "their language model is changed to read images in its own layers");

constexpr std::array types{
    UnopenedType{"deberta", relative_scores, "deberta-v2"},
    UnopenedType{"qwen3_vl_moe", chosen_experts, "qwen3_vl"},
    UnopenedType{"mllama", images_inside, "llava"},
    UnopenedType{"paligemma",
                 translatable("unopened.prompt_both_directions", "they read the prompt in both directions"),
                 "gemma3"},
    UnopenedType{"whisper", other_input, "bart"},
    UnopenedType{"vit", other_input, "bert"},
    UnopenedType{"clip", other_input, "llava"},
    UnopenedType{"siglip", other_input, "gemma3"},
};

} // namespace

void refuse_type(const ConfigReader& reader, const std::string& type) {
    const auto found = std::ranges::find(types, type, &UnopenedType::type);
    if (found == types.end())
        reader.refuse("model_type", tr("common.one", "one of {}", family_names()));
    fail_input(tr("unopened.not_computed_because",
                  "{}: {} models are not computed here because {}; the nearest family that opens is {}",
                  reader.source(), type, tr(found->reason), found->nearest));
}

} // namespace headscope::checkpoint
