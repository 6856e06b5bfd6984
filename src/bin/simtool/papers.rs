//! The papers behind the methods, as entries of BibTeX.

use simtool::method::Method;

/// Name that the search for repeated passages has among the methods.
const PASSAGES: &str = "passages";

/// A paper, the methods that follow it, and its entry in BibTeX.
pub(crate) struct Paper {
    pub(crate) methods: &'static [&'static str],
    pub(crate) entry: &'static str,
}

/// Papers behind the methods, from the oldest to the newest.
pub(crate) const PAPERS: &[Paper] = &[
    // Shingles, the similarity of their sets, and the smallest hashes of sets.
    Paper {
        methods: &["exact", "covered", "minhash"],
        entry: "\
@inproceedings{broder1997resemblance,
  author = {Broder, Andrei Z.},
  title = {On the resemblance and containment of documents},
  booktitle = {Proceedings of Compression and Complexity of {SEQUENCES} 1997},
  pages = {21--29},
  year = {1997},
  doi = {10.1109/SEQUEN.1997.666900}
}",
    },
    // Fingerprints whose distance estimates an angle.
    Paper {
        methods: &["simhash", "multi-lexicon"],
        entry: "\
@inproceedings{charikar2002similarity,
  author = {Charikar, Moses S.},
  title = {Similarity estimation techniques from rounding algorithms},
  booktitle = {Proceedings of the 34th Annual {ACM} Symposium on Theory of Computing ({STOC})},
  pages = {380--388},
  year = {2002},
  doi = {10.1145/509907.509965}
}",
    },
    // One hash of the words that are neither rare nor frequent.
    Paper {
        methods: &["i-match"],
        entry: "\
@article{chowdhury2002collection,
  author = {Chowdhury, Abdur and Frieder, Ophir and Grossman, David and McCabe, Mary Catherine},
  title = {Collection statistics for fast duplicate document detection},
  journal = {{ACM} Transactions on Information Systems},
  volume = {20},
  number = {2},
  pages = {171--191},
  year = {2002},
  doi = {10.1145/506309.506311}
}",
    },
    // Hashes of runs of words. The runs are selected in the same way in all texts, wherever they are.
    Paper {
        methods: &[PASSAGES],
        entry: "\
@inproceedings{schleimer2003winnowing,
  author = {Schleimer, Saul and Wilkerson, Daniel S. and Aiken, Alex},
  title = {Winnowing: local algorithms for document fingerprinting},
  booktitle = {Proceedings of the 2003 {ACM} {SIGMOD} International Conference on Management of Data},
  pages = {76--85},
  year = {2003},
  doi = {10.1145/872757.872770}
}",
    },
    // Several fingerprints, each over a random part of the words.
    Paper {
        methods: &["multi-lexicon", "i-match"],
        entry: "\
@inproceedings{kolcz2004improved,
  author = {Ko{\\l}cz, Aleksander and Chowdhury, Abdur and Alspector, Joshua},
  title = {Improved robustness of signature-based near-replica detection via lexicon randomization},
  booktitle = {Proceedings of the 10th {ACM} {SIGKDD} International Conference on Knowledge Discovery and
               Data Mining ({KDD})},
  year = {2004},
  doi = {10.1145/1014052.1014127}
}",
    },
    // An exact join of sets by prefixes of rare terms.
    Paper {
        methods: &["exact"],
        entry: "\
@inproceedings{bayardo2007scaling,
  author = {Bayardo, Roberto J. and Ma, Yiming and Srikant, Ramakrishnan},
  title = {Scaling up all pairs similarity search},
  booktitle = {Proceedings of the 16th International Conference on World Wide Web ({WWW})},
  pages = {131--140},
  year = {2007},
  doi = {10.1145/1242572.1242591}
}",
    },
    // SimHash of web pages, and tables that find all pairs within a distance.
    Paper {
        methods: &["simhash"],
        entry: "\
@inproceedings{manku2007detecting,
  author = {Manku, Gurmeet Singh and Jain, Arvind and Das Sarma, Anish},
  title = {Detecting near-duplicates for web crawling},
  booktitle = {Proceedings of the 16th International Conference on World Wide Web ({WWW})},
  year = {2007},
  doi = {10.1145/1242572.1242592}
}",
    },
    // Bounds by the positions of common terms in sorted sets.
    Paper {
        methods: &["exact"],
        entry: "\
@inproceedings{xiao2008efficient,
  author = {Xiao, Chuan and Wang, Wei and Lin, Xuemin and Yu, Jeffrey Xu},
  title = {Efficient similarity joins for near duplicate detection},
  booktitle = {Proceedings of the 17th International Conference on World Wide Web ({WWW})},
  pages = {131--140},
  year = {2008},
  doi = {10.1145/1367497.1367516}
}",
    },
    // Only a few bits of each smallest hash are stored.
    Paper {
        methods: &["minhash"],
        entry: "\
@inproceedings{li2010bbit,
  author = {Li, Ping and K{\\\"o}nig, Arnd Christian},
  title = {b-Bit minwise hashing},
  booktitle = {Proceedings of the 19th International Conference on World Wide Web ({WWW})},
  pages = {671--680},
  year = {2010},
  doi = {10.1145/1772690.1772759}
}",
    },
    // One hash function for all lanes instead of one for each.
    Paper {
        methods: &["minhash"],
        entry: "\
@inproceedings{li2012one,
  author = {Li, Ping and Owen, Art B. and Zhang, Cun-Hui},
  title = {One permutation hashing},
  booktitle = {Advances in Neural Information Processing Systems 25 ({NIPS})},
  year = {2012}
}",
    },
    // Values for the lanes that no term has filled.
    Paper {
        methods: &["minhash"],
        entry: "\
@inproceedings{shrivastava2017optimal,
  author = {Shrivastava, Anshumali},
  title = {Optimal densification for fast and accurate minwise hashing},
  booktitle = {Proceedings of the 34th International Conference on Machine Learning ({ICML})},
  series = {Proceedings of Machine Learning Research},
  volume = {70},
  pages = {3154--3163},
  year = {2017}
}",
    },
    // Repeated passages of training texts, found exactly.
    Paper {
        methods: &[PASSAGES],
        entry: "\
@inproceedings{lee2022deduplicating,
  author = {Lee, Katherine and Ippolito, Daphne and Nystrom, Andrew and Zhang, Chiyuan and Eck, Douglas and
            Callison-Burch, Chris and Carlini, Nicholas},
  title = {Deduplicating training data makes language models better},
  booktitle = {Proceedings of the 60th Annual Meeting of the Association for Computational Linguistics ({ACL}),
               Volume 1: Long Papers},
  pages = {8424--8445},
  year = {2022},
  doi = {10.18653/v1/2022.acl-long.577}
}",
    },
];

/// Returns the names of the methods whose papers can be printed.
pub(crate) fn cited_methods() -> impl Iterator<Item = &'static str> {
    Method::kinds().map(|(name, _)| name).chain([PASSAGES])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_method_has_a_paper_and_every_paper_a_method() {
        let known: BTreeSet<&str> = cited_methods().collect();
        let named: BTreeSet<&str> =
            PAPERS.iter().flat_map(|paper| paper.methods).copied().collect();
        assert_eq!(known, named);
    }

    #[test]
    fn entries_are_well_formed_and_in_the_order_of_the_years() {
        let (mut keys, mut years) = (BTreeSet::new(), Vec::new());
        for Paper { entry, .. } in PAPERS {
            assert_eq!(entry.matches('{').count(), entry.matches('}').count(), "{entry}");
            let key = entry.split_once('{').unwrap().1.split_once(',').unwrap().0;
            assert!(keys.insert(key), "{key}");
            let year = entry.split_once("\n  year = {").unwrap().1;
            years.push(&year[..4]);
            // The key ends with the year and the first word of the title.
            assert!(key.contains(&year[..4]), "{key}");
            for field in ["author = {", "title = {"] {
                assert_eq!(entry.matches(&format!("\n  {field}")).count(), 1, "{entry}");
            }
        }
        assert!(years.is_sorted(), "{years:?}");
    }
}
