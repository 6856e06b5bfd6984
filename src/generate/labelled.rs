//! Generates documents with near-duplicates of several strengths, in English and in Chinese.
//!
//! A small grammar makes sentences from lists of words. Half of the documents are versions of others:
//!
//! * lightly edited: a few words differ;
//! * edited: many words differ, and a sentence is replaced;
//! * rewritten: a third of the words differ, and sentences are in another order;
//! * part: the first half of the other document, followed by other text. These pairs count neither as true
//!   nor as false.
//!
//! Every fifth document ends with the same notice, as the pages of one web site often do.

use super::random::Random;
use simtool_base::json_text::write_string;
use std::io;

/// Contents of the files that [`labelled`] generates.
#[derive(Clone, Debug, Default)]
pub struct LabelledFiles {
    /// `docs.jsonl`: ID and text of each document.
    pub documents: Vec<u8>,
    /// `truth.tsv`: for each true pair, the IDs of both documents and the name of the edit.
    pub truth: Vec<u8>,
    /// `gray.tsv`: pairs of documents that share only a part. These pairs count neither as true nor as false.
    pub gray: Vec<u8>,
}

/// Generates about `documents` documents with labels. Half of the documents are English and half are Chinese.
///
/// # Errors
///
/// Never in practice, because writing to memory does not fail.
pub fn labelled(seed: u64, documents: u64) -> io::Result<LabelledFiles> {
    let mut files = LabelledFiles::default();
    for (number, language) in [&ENGLISH, &CHINESE].into_iter().enumerate() {
        // Each language has a seed of its own, so a change in one language does not change the text of the
        // other.
        let mut random = Random::new(seed.wrapping_mul(2).wrapping_add(number as u64));
        let mut left = documents.div_ceil(2);
        let mut story = 0;
        while left > 0 {
            story += 1;
            left = left.saturating_sub(language.write_story(story, &mut random, &mut files)?);
        }
    }
    Ok(files)
}

/// Edit that turns a document into another version of it. The module documentation describes the edits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    Light,
    Edited,
    Rewritten,
    Part,
}

impl Edit {
    fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Edited => "edited",
            Self::Rewritten => "rewritten",
            Self::Part => "part",
        }
    }
}

/// Edits for original documents number 0 to 7. Each edit makes one version of the document. The list is repeated:
/// document 8 has the edits of document 0, and so on. A document and its two versions give three pairs.
const VERSIONS: [&[Edit]; 8] = [
    &[Edit::Light],
    &[],
    &[Edit::Edited],
    &[Edit::Light, Edit::Edited],
    &[],
    &[Edit::Rewritten],
    &[Edit::Part],
    &[Edit::Rewritten, Edit::Light],
];

/// Approximate number of sentences of a generated document.
const SENTENCES: usize = 14;
/// Number of original documents for each document with a notice, which is a text at the end of a document. So every
/// fifth document and its versions end with the same notice.
const NOTICES: u64 = 5;

/// Words and punctuation of a language in which documents are generated.
struct Language {
    code: &'static str,
    /// Lists of words. A sentence has one word of each list, in the order of the lists.
    pattern: [&'static [&'static str]; 8],
    space: &'static str,
    stop: &'static str,
    notice: &'static str,
}

/// A sentence: for each list of words in the pattern of the language, the index of the chosen word.
type Sentence = [usize; 8];

impl Language {
    /// Makes original document number `story` and its versions, and appends them and their labels to `files`.
    /// Returns the number of documents that were appended.
    fn write_story(
        &self,
        story: u64,
        random: &mut Random,
        files: &mut LabelledFiles,
    ) -> io::Result<u64> {
        let length = SENTENCES - 4 + random.below(9);
        let original: Vec<Sentence> = (0..length).map(|_| self.sentence(random)).collect();
        let has_notice = story.is_multiple_of(NOTICES);
        let mut names = vec![(format!("{}-{story:03}", self.code), None)];
        self.write(&names[0].0, &original, has_notice, files)?;
        let edits = VERSIONS[(story % 8) as usize];
        for &edit in edits {
            let name = format!("{}-{}", names[0].0, edit.name());
            let version = self.edited(&original, edit, random);
            self.write(&name, &version, has_notice, files)?;
            for (other, of_other) in &names {
                // All versions of one document are near-duplicates of each other, except versions that share
                // only a part.
                let is_part = edit == Edit::Part || *of_other == Some(Edit::Part);
                let pairs = if is_part { &mut files.gray } else { &mut files.truth };
                let pair = format!("{other}\t{name}\t{}\n", edit.name());
                pairs.extend_from_slice(pair.as_bytes());
            }
            names.push((name, Some(edit)));
        }
        Ok(names.len() as u64)
    }

    fn sentence(&self, random: &mut Random) -> Sentence {
        self.pattern.map(|words| random.below(words.len()))
    }

    /// Returns the version that `edit` makes of a document. `original` has the sentences of the document.
    fn edited(&self, original: &[Sentence], edit: Edit, random: &mut Random) -> Vec<Sentence> {
        let mut version = original.to_vec();
        // Percentage of words to replace by others.
        let changed = match edit {
            Edit::Light => 3,
            Edit::Edited => 14,
            Edit::Rewritten => 32,
            Edit::Part => 0,
        };
        for sentence in &mut version {
            for (word, words) in sentence.iter_mut().zip(self.pattern) {
                if random.happens(changed, 100) {
                    *word = random.below(words.len());
                }
            }
        }
        match edit {
            Edit::Light => {}
            Edit::Edited => {
                version.remove(random.below(version.len()));
                version.insert(random.below(version.len()), self.sentence(random));
            }
            Edit::Rewritten => {
                let middle = version.len() / 2;
                version.rotate_left(middle);
                version.truncate(version.len() - 1);
            }
            Edit::Part => {
                version.truncate(version.len() / 2);
                version.extend((0..SENTENCES).map(|_| self.sentence(random)));
            }
        }
        version
    }

    fn write(
        &self,
        name: &str,
        sentences: &[Sentence],
        has_notice: bool,
        files: &mut LabelledFiles,
    ) -> io::Result<()> {
        let mut text = String::new();
        for sentence in sentences {
            let words = sentence.iter().zip(self.pattern).map(|(&word, words)| words[word]);
            let mut words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            // The first word of a sentence begins with a capital and has no space before it.
            let first = if words.is_empty() { "" } else { words.remove(0) };
            let mut letters = first.chars();
            if let Some(letter) = letters.next() {
                text.extend(letter.to_uppercase());
                text.push_str(letters.as_str());
            }
            for word in words {
                text.push_str(self.space);
                text.push_str(word);
            }
            text.push_str(self.stop);
        }
        if has_notice {
            text.push_str(self.notice);
        }
        let out = &mut files.documents;
        out.extend_from_slice(b"{\"id\":");
        write_string(out, name.as_bytes())?;
        out.extend_from_slice(b",\"text\":");
        write_string(out, text.trim_end().as_bytes())?;
        out.extend_from_slice(b"}\n");
        Ok(())
    }
}

const ENGLISH: Language = Language {
    code: "en",
    pattern: [
        &[
            "yesterday",
            "in the spring",
            "after the meeting",
            "last week",
            "before dawn",
            "on the second day",
            "in the end",
            "at the harbour",
            "for many years",
            "since then",
            "during the storm",
            "according to the paper",
            "that evening",
            "as a rule",
        ],
        &[
            "the old captain",
            "a young engineer",
            "the city council",
            "our neighbour",
            "the museum",
            "a group of students",
            "the railway company",
            "her brother",
            "the village doctor",
            "an unknown painter",
            "the night watchman",
            "the committee",
            "a retired teacher",
            "the harbour master",
            "the first witness",
            "his lawyer",
        ],
        &[
            "repaired",
            "described",
            "sold",
            "refused to open",
            "photographed",
            "measured",
            "carried away",
            "forgot",
            "discovered",
            "praised",
            "paid for",
            "closed",
            "rebuilt",
            "painted",
            "lost",
            "inherited",
            "borrowed",
            "examined",
        ],
        &["the", "every", "a second", "the only", "another", "the largest", "one more", "the last"],
        &[
            "wooden",
            "empty",
            "famous",
            "broken",
            "silver",
            "forgotten",
            "narrow",
            "northern",
            "expensive",
            "quiet",
            "damaged",
            "white",
            "modern",
            "heavy",
            "",
            "local",
        ],
        &[
            "bridge",
            "letter",
            "warehouse",
            "map",
            "piano",
            "lighthouse",
            "garden",
            "engine",
            "archive",
            "boat",
            "window",
            "report",
            "tower",
            "clock",
            "library",
            "road",
            "well",
            "portrait",
            "market hall",
            "school",
        ],
        &[
            "near the river",
            "without a word",
            "for a small sum",
            "in front of the station",
            "with great care",
            "against all advice",
            "behind the church",
            "under the hill",
            "by mistake",
            "on the northern shore",
            "from the island",
            "at his own cost",
            "",
            "in the presence of the mayor",
        ],
        &[
            "and nobody asked why",
            "because the winter was long",
            "although it rained",
            "while the others waited",
            "so that the work could go on",
            "and wrote it down",
            "",
            "before the newspapers came",
            "as the law demanded",
            "until the money was gone",
            "which surprised everybody",
            "and then went home",
            "since no one else would",
        ],
    ],
    space: " ",
    stop: ". ",
    notice: "All rights are reserved by the owners of this page. Please write to the editors if \
             anything in it is wrong, and do not copy it without their leave.",
};

const CHINESE: Language = Language {
    code: "zh",
    pattern: [
        &[
            "昨天上午",
            "去年春天",
            "会议结束以后",
            "天亮之前",
            "第二天",
            "据报纸报道",
            "暴雨期间",
            "多年以来",
            "当天晚上",
            "按照规定",
            "在码头上",
            "最后",
            "从那时起",
            "一般来说",
        ],
        &[
            "老船长",
            "年轻的工程师",
            "市政府",
            "隔壁的邻居",
            "博物馆",
            "一群学生",
            "铁路公司",
            "她的哥哥",
            "村里的医生",
            "无名画家",
            "守夜人",
            "委员会",
            "退休教师",
            "港务局",
            "第一位证人",
            "他的律师",
        ],
        &[
            "修好了",
            "描述了",
            "卖掉了",
            "拒绝打开",
            "拍摄了",
            "测量了",
            "运走了",
            "忘记了",
            "发现了",
            "称赞了",
            "买下了",
            "关闭了",
            "重建了",
            "粉刷了",
            "丢失了",
            "继承了",
            "借走了",
            "检查了",
        ],
        &["那座", "每一处", "另一个", "唯一的", "最大的", "第二个", "又一个", "最后的"],
        &[
            "木制的",
            "空荡的",
            "著名的",
            "破损的",
            "银色的",
            "被遗忘的",
            "狭窄的",
            "北方的",
            "昂贵的",
            "安静的",
            "受损的",
            "白色的",
            "现代的",
            "沉重的",
            "",
            "本地的",
        ],
        &[
            "桥梁",
            "信件",
            "仓库",
            "地图",
            "钢琴",
            "灯塔",
            "花园",
            "发动机",
            "档案",
            "小船",
            "窗户",
            "报告",
            "塔楼",
            "时钟",
            "图书馆",
            "道路",
            "水井",
            "肖像",
            "市场",
            "学校",
        ],
        &[
            "，就在河边",
            "，一句话也没说",
            "，只花了一点钱",
            "，在车站前面",
            "，非常小心",
            "，不顾大家的劝告",
            "，在教堂后面",
            "，在山脚下",
            "，完全是误会",
            "，在北岸",
            "，自己承担费用",
            "",
            "，当着市长的面",
            "，从岛上回来",
        ],
        &[
            "，没有人问为什么",
            "，因为冬天很长",
            "，虽然下着雨",
            "，别人都在等待",
            "，使工作能够继续",
            "，并且写了下来",
            "",
            "，在记者到来之前",
            "，这是法律的要求",
            "，直到钱用完为止",
            "，大家都很惊讶",
            "，然后回家了",
            "，因为没有别人愿意",
        ],
    ],
    space: "",
    stop: "。",
    notice: "本页面的一切权利归所有者所有。如果内容有误，请写信给编辑部，未经许可不得转载。",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_documents_and_their_pairs_name_them() {
        let files = labelled(1, 40).unwrap();
        assert_eq!(files.documents, labelled(1, 40).unwrap().documents);
        assert_ne!(files.documents, labelled(2, 40).unwrap().documents);
        let text = String::from_utf8(files.documents).unwrap();
        assert!((40..=44).contains(&text.lines().count()), "{}", text.lines().count());
        let pairs = [files.truth, files.gray].map(|pairs| String::from_utf8(pairs).unwrap());
        assert!(pairs.iter().all(|pairs| !pairs.is_empty()));
        for id in
            pairs.iter().flat_map(|pairs| pairs.lines()).flat_map(|line| line.split('\t').take(2))
        {
            assert_eq!(text.matches(&format!("{{\"id\":\"{id}\",")).count(), 1, "{id}");
        }
    }
}
