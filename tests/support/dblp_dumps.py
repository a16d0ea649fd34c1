"""A small dump of DBLP, as the site publishes it."""

import gzip

HEAD = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE dblp SYSTEM "dblp-2019-11-22.dtd">
"""


DUMP = """<dblp>
<inproceedings mdate="2020-01-01" key="conf/sisap/SchubertLF21">
<author>Erich Schubert</author>
<author orcid="0000-0000">J&ouml;rg &Aacute;lvarez</author>
<title>About <i>n</i> things &amp; H<sub>2</sub>O by <author>nobody</author>.</title>
<booktitle>SISAP</booktitle>
</inproceedings>
<inproceedings key="conf/sisap/Schubert20"><author>Erich
 Schubert</author><title>T</title></inproceedings>
<inproceedings key="conf/nips/A"><author>J&#246;rg &Aacute;lvarez</author>
<author>J&ouml;rg &Aacute;lvarez</author></inproceedings>
<article key="journals/is/B"><author>Ann 0002</author><author>Erich Schubert</author></article>
<article key="dblpnote/error"><author>Nobody One</author></article>
<proceedings key="conf/sisap/2021"><editor>Nobody Two</editor></proceedings>
<www key="homepages/x"><author>Nobody Three</author></www>
<phdthesis key="phd/x"><author>Nobody Four</author></phdthesis>
<inproceedings key="conf/empty/C"><title>Without an author</title></inproceedings>
<inproceedings key="conf/empty/D"><author> </author></inproceedings>
</dblp>
"""


def written(tmp_path, body=DUMP, head=HEAD, name="dblp.xml.gz", pack=gzip.compress):
    path = tmp_path / name
    path.write_bytes(pack((head + body).encode("latin-1")))
    return path
