#include "app/shell/files/files.h"
#include "app/state/files/sentence_list.h"
#include "app/state/model_document.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/text/preset.h"

#include <algorithm>

namespace headscope::app {

void Files::open_sentences(const std::string& path) {
    try {
        state_.view.sentences = read_sentences(path);
    } catch (const Error& fault) {
        return failed(fault.what());
    }
    state_.view.sentence = -1;
    files_.chooser.reset();
    show_sentence(0);
}

void Files::open_prompts(const std::string& path) {
    try {
        workspace_.end_gesture(); // the first prompt is a step of the history
        workspace_.session().act(OpenPrompts{path});
    } catch (const Error& fault) {
        return failed(fault.what());
    }
    files_.chooser.reset();
}

void Files::show_sentence(int wanted) {
    if (state_.view.sentences == nullptr)
        fail_input(tr("files_sentences.no_list", "There is no list of sentences; open one first."));
    const std::vector<std::string>& list = *state_.view.sentences;
    const int at = std::clamp(wanted, 0, static_cast<int>(list.size()) - 1);
    const Document& document = *state_.document;
    const project::Recipe& recipe = document.recipe;
    const text::PresetInfo* const preset = text::find_preset(recipe.preset);
    if (document.is_given())
        fail_input(tr("files_sentences.weights_of_file",
                      "Attention weights from a file have no sentence to change."));
    if (document.is_experiment() && (recipe.base != nullptr || (preset != nullptr && preset->fixed_sentence)))
        fail_input(tr("files_sentences.fixed",
                      "The words of this problem cannot be changed; choose a preset that takes a sentence."));
    const std::string& sentence = list[static_cast<std::size_t>(at)];
    workspace_.end_gesture(); // each sentence is a step of the history
    if (document.is_checkpoint())
        workspace_.session().act(TypePrompt{sentence});
    else
        workspace_.run(SetSentence{sentence});
    workspace_.end_gesture();
    state_.view.sentence = at;
    if (!state_.presentation.on && state_.notice.empty())
        state_.notice = tr("files_sentences.sentence_of", "Sentence {} of {}.", at + 1, list.size());
}

} // namespace headscope::app
