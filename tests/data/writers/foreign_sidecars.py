"""Sidecars as other programs write them, by name: bytes that must come back as they were."""

_RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
_DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_PLAIN = f"""<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Image::ExifTool 12.76">
<rdf:RDF {_RDF}>

 <rdf:Description rdf:about=''
  {_DC}>
  <dc:subject>
   <rdf:Bag>
    <rdf:li>old</rdf:li>
    <rdf:li>été</rdf:li>
   </rdf:Bag>
  </dc:subject>
 </rdf:Description>
</rdf:RDF>
</x:xmpmeta>"""
_BEGIN, _END = '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n', "\n<?xpacket end='w'?>"
_PADDING = (" " * 99 + "\n") * 20
_DIGIKAM = f"""<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="XMP Core 4.4.0-Exiv2">
 <rdf:RDF {_RDF}>
  <rdf:Description rdf:about=""
    xmlns:digiKam="http://www.digikam.org/ns/1.0/" xmlns:lr="http://ns.adobe.com/lightroom/1.0/"
    {_DC} digiKam:ColorLabel="0" digiKam:PickLabel="0">
   <digiKam:TagsList>
    <rdf:Seq>
     <rdf:li>places/rome</rdf:li>
    </rdf:Seq>
   </digiKam:TagsList>
   <dc:subject>
    <rdf:Bag>
     <rdf:li>rome</rdf:li>
    </rdf:Bag>
   </dc:subject>
   <lr:hierarchicalSubject>
    <rdf:Bag>
     <rdf:li>places|rome</rdf:li>
    </rdf:Bag>
   </lr:hierarchicalSubject>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
"""
_LIGHTROOM = f"""<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Adobe XMP Core 5.6-c140 79.160451, 2017/05/06">
 <rdf:RDF {_RDF}>
  <rdf:Description rdf:about=""
    xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/"
    {_DC}
   xmp:CreatorTool="Adobe Photoshop Lightroom Classic"
   crs:Exposure2012="+0.35">
   <dc:subject>
    <rdf:Bag>
     <rdf:li>old</rdf:li>
    </rdf:Bag>
   </dc:subject>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
"""
_DARKTABLE = f"""<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="XMP Core 4.4.0-Exiv2">
 <rdf:RDF {_RDF}>
  <rdf:Description rdf:about="" xmlns:darktable="http://darktable.sf.net/" {_DC}
   darktable:xmp_version="4">
   <darktable:history><rdf:Seq>
     <rdf:li darktable:num="0" darktable:params="gz02eJw&lt;"/></rdf:Seq></darktable:history>
   <dc:subject><rdf:Seq><rdf:li>old</rdf:li></rdf:Seq></dc:subject>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
"""
_PICASA = f"""<?xml version="1.0"?><x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="XMP Core 5.1.2">
  <rdf:RDF {_RDF}><rdf:Description rdf:about=""
        xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/">
      <mwg-rs:Regions rdf:parseType="Resource">
        <mwg-rs:RegionList><rdf:Bag><rdf:li rdf:parseType="Resource">
          <mwg-rs:Name>Zoë</mwg-rs:Name><mwg-rs:Type>Face</mwg-rs:Type>
        </rdf:li></rdf:Bag></mwg-rs:RegionList>
      </mwg-rs:Regions>
    </rdf:Description></rdf:RDF>
</x:xmpmeta>"""

SIDECARS = {
    "no declaration": _PLAIN.encode(),
    "declaration": (_DECLARATION + _PLAIN + "\n").encode(),
    "declaration in other words": ("<?xml version='1.0' standalone=\"yes\" ?>\n\n" + _PLAIN).encode(),
    "BOM": b"\xef\xbb\xbf" + (_DECLARATION + _PLAIN).encode(),
    "CRLF": (_DECLARATION + _PLAIN).replace("\n", "\r\n").encode(),
    "CR": (_DECLARATION + _PLAIN).replace("\n", "\r").encode(),
    "UTF-16 LE": b"\xff\xfe" + _PLAIN.encode("utf-16-le"),
    "UTF-16 BE": b"\xfe\xff"
    + _DECLARATION.replace("UTF-8", "UTF-16").encode("utf-16-be")
    + _PLAIN.encode("utf-16-be"),
    "Latin-1": (_DECLARATION.replace("UTF-8", "ISO-8859-1") + _PLAIN).encode("latin-1"),
    "padding": (_BEGIN + _PLAIN + _PADDING + _END).encode(),
    "read-only packet": (_BEGIN + _PLAIN + _END.replace("'w'", "'r'")).encode(),
    "other prefixes": _PLAIN.replace("rdf:", "r:")
    .replace("xmlns:rdf", "xmlns:r")
    .replace("dc:", "d:")
    .replace("xmlns:dc", "xmlns:d")
    .encode(),
    "an attribute": f"""<rdf:RDF {_RDF}>
<rdf:Description rdf:about="" {_DC} dc:subject="old"/></rdf:RDF>""".encode(),
    "alternatives": _PLAIN.replace(
        "<dc:subject>",
        '<dc:title><rdf:Alt><rdf:li xml:lang="x-default">A</rdf:li><rdf:li xml:lang="fr">B</rdf:li></rdf:Alt>'
        "</dc:title><dc:subject>",
    ).encode(),
    "keywords as alternatives": _PLAIN.replace("rdf:Bag", "rdf:Alt").encode(),
    "comments": (
        "<!-- one -->\n" + _PLAIN.replace("<rdf:li>old", "<!-- two --><rdf:li>old") + "\n<!-- three -->\n"
    ).encode(),
    "instructions": ("<?one two?>" + _PLAIN.replace("<dc:subject>", "<?three four?><dc:subject>")).encode(),
    "CDATA and references": _PLAIN.replace("old", "<![CDATA[old]]>").replace("été", "&#233;t&#xE9;").encode(),
    "bytes at the end": _PLAIN.encode() + b"\n\n  \0\0\0\0\0",
    "digiKam": _DIGIKAM.encode(),
    "Lightroom": _LIGHTROOM.encode(),
    "Lightroom, packet": (_BEGIN + _LIGHTROOM + _PADDING + _END).encode(),
    "darktable": _DARKTABLE.encode(),
    "exiftool": (_BEGIN + _PLAIN + _END).encode(),
    "Picasa": _PICASA.encode(),
}
