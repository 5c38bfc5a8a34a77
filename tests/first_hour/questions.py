"""What visitors ask the help desk of the invented Lindenhof museums, and the plain true answer to each."""

from __future__ import annotations

from typing import NamedTuple


class Question(NamedTuple):
    """One question as visitors put it, with the sentence that answers it."""

    area: str
    language: str
    text: str
    answer: str


# area -> language -> (question, the sentence that answers it)
ASKED: dict[str, dict[str, list[tuple[str, str]]]] = {
    "tickets": {
        "en": [
            (
                "How much is a ticket for two adults and a child of 9?",
                "Two adults pay €28 together and children under 12 come in free.",
            ),
            (
                "Can I change the date of my online ticket?",
                "You can move an online ticket to another date until 24 hours before the slot begins.",
            ),
            (
                "I bought tickets for the wrong museum, can I get my money back?",
                "We refund unused tickets within 14 days if you ask before the visiting day.",
            ),
            ("Is there a student discount?", "Students up to 27 pay €8 instead of €14 with a valid card."),
            (
                "My ticket mail never arrived, what now?",
                "You can load the ticket again under My Orders with the order number and your post code.",
            ),
            (
                "do i need a time slot for the dinosaur hall",
                "Yes, the dinosaur hall has time slots of 30 minutes, also for members.",
            ),
        ],
        "de": [
            ("Was kostet der Eintritt für Rentner?", "Ab 65 Jahren kostet der Eintritt 9 € statt 14 €."),
            (
                "Kann ich mein Ticket auf dem Handy zeigen?",
                "Ja, der QR-Code auf dem Handy genügt an allen drei Eingängen.",
            ),
            ("Gibt es eine Abendkarte?", "Die Abendkarte gilt donnerstags ab 17:00 Uhr und kostet 7 €."),
        ],
        "fr": [
            (
                "Quel est le prix d'un billet pour une famille ?",
                "Le billet famille coûte 32 € pour deux adultes et jusqu'à quatre enfants.",
            ),
            (
                "Puis-je annuler mes billets achetés en ligne ?",
                "Vous pouvez annuler jusqu'à 24 heures avant la visite et le montant est remboursé sous 14 jours.",
            ),
        ],
    },
    "opening_hours": {
        "en": [
            ("Are you open on Mondays?", "All three museums are closed on Mondays except on public holidays."),
            ("What time is last entry on Sunday?", "Last entry on Sunday is at 17:15, and the doors close at 18:00."),
            ("Is the museum open on 26 December?", "On 26 December we open from 11:00 to 17:00."),
            ("How late can I stay on Thursdays?", "On Thursdays the galleries stay open until 21:00."),
            ("When is it quiet? I do not like crowds", "It is quietest on weekdays before 11:00 and after 15:30."),
            ("Does the cafe open before the museum?", "The café opens at 08:30, ninety minutes before the galleries."),
        ],
        "de": [
            ("Haben Sie an Heiligabend geöffnet?", "Am 24. Dezember bleiben alle Häuser geschlossen."),
            ("Bis wann kommt man abends noch rein?", "Letzter Einlass ist 45 Minuten vor Schluss, also um 17:15 Uhr."),
            ("Ist das Depot am Samstag zugänglich?", "Das Schaudepot ist samstags von 12:00 bis 16:00 Uhr geöffnet."),
        ],
        "fr": [
            ("Le musée est-il ouvert le lundi de Pâques ?", "Le lundi de Pâques, nous ouvrons de 10:00 à 18:00."),
            ("À quelle heure fermez-vous le jeudi ?", "Le jeudi, les salles restent ouvertes jusqu'à 21:00."),
        ],
    },
    "accessibility": {
        "en": [
            (
                "Is there a lift to the second floor?",
                "Yes, the lift beside the cloakroom reaches every floor and is 110 cm wide.",
            ),
            ("Can I borrow a wheelchair?", "We lend six wheelchairs free of charge at the main desk."),
            ("Do carers get in free?", "One carer comes in free with a visitor whose pass has the mark B."),
            (
                "my son is autistic, is there a quiet room?",
                "The quiet room is on level 1 next to room 14 and needs no booking.",
            ),
            ("Are guide dogs allowed?", "Guide dogs are welcome in every room, including the planetarium."),
            (
                "Is there an induction loop in the lecture hall?",
                "Rows 3 to 8 of the lecture hall have an induction loop.",
            ),
        ],
        "de": [
            (
                "Gibt es Führungen in Gebärdensprache?",
                "Führungen in Gebärdensprache gibt es jeden ersten Samstag um 14:00 Uhr.",
            ),
            (
                "Wo ist die barrierefreie Toilette?",
                "Barrierefreie Toiletten finden Sie im Erdgeschoss und auf Ebene 2.",
            ),
            (
                "Kann ich mit dem Rollator in die Sternwarte?",
                "Ja, die Sternwarte hat eine Rampe mit 6 Prozent Steigung.",
            ),
        ],
        "fr": [
            (
                "Y a-t-il un ascenseur pour les poussettes ?",
                "Oui, l'ascenseur près du vestiaire dessert les 4 niveaux.",
            ),
            (
                "Proposez-vous un audioguide pour malvoyants ?",
                "L'audioguide descriptif est gratuit et couvre 35 objets.",
            ),
        ],
    },
    "groups_schools": {
        "en": [
            (
                "How do I book a class of 26 pupils?",
                "Classes book online at least 10 days ahead, and 26 pupils come as two groups of 13.",
            ),
            ("Is there a group discount for 15 people?", "From 12 people on everyone pays €10."),
            (
                "Can we eat our packed lunch somewhere?",
                "Groups can use the lunch room on level 0 for 30 minutes if they book it.",
            ),
            (
                "How many adults must come with a primary class?",
                "A primary class needs one adult for every 10 children.",
            ),
            (
                "We are late by 20 minutes with our group, is our tour lost?",
                "We hold a group tour for 20 minutes and shorten it after that.",
            ),
            ("Can I pay by invoice for my school?", "Schools may pay by invoice within 30 days."),
        ],
        "de": [
            ("Was kostet ein Workshop für die 4. Klasse?", "Der Workshop kostet 75 € je Klasse und dauert 90 Minuten."),
            ("Dürfen Lehrer vorher kostenlos schauen?", "Lehrkräfte kommen zur Vorbereitung einmal kostenlos hinein."),
            ("Wie storniere ich eine Gruppenführung?", "Gruppenführungen stornieren Sie kostenlos bis 7 Tage vorher."),
        ],
        "fr": [
            (
                "Comment réserver pour un groupe de 20 personnes ?",
                "La réservation se fait en ligne, 10 jours avant au plus tard, et coûte 10 € par personne.",
            ),
            (
                "Avez-vous des guides francophones pour les écoles ?",
                "Oui, les visites en français ont lieu le mardi et le jeudi à 10:30.",
            ),
        ],
    },
    "shop_orders": {
        "en": [
            (
                "Where is my poster? I ordered it two weeks ago",
                "Posters leave our store within 3 working days and usually arrive within 8.",
            ),
            ("Do you ship to Switzerland?", "We ship to Switzerland for €14.90, and customs may be added."),
            (
                "Can I return a book I bought in the shop?",
                "Books in new condition can be returned within 30 days with the receipt.",
            ),
            ("The mug arrived broken", "We replace broken goods free of charge if you send a photo within 7 days."),
            ("Do members get a discount in the shop?", "Members get 10 percent off everything but books."),
            ("Can I buy a gift voucher online?", "Vouchers from €10 to €200 are sent as a PDF at once."),
        ],
        "de": [
            ("Wie lange ist ein Gutschein gültig?", "Gutscheine gelten 3 Jahre ab Ende des Kaufjahres."),
            ("Kann ich den Katalog nachbestellen?", "Der Katalog ist für 39 € lieferbar, Versand 4,90 €."),
            (
                "Ich habe den falschen Artikel bekommen",
                "Wir tauschen falsche Artikel kostenlos um, das Rücksendeetikett kommt per Mail.",
            ),
        ],
        "fr": [
            ("Livrez-vous en Belgique ?", "Oui, la livraison en Belgique coûte 9,90 € et prend 5 à 7 jours."),
            (
                "Comment utiliser mon bon cadeau en ligne ?",
                "Saisissez le code à 12 signes à la dernière étape de la commande.",
            ),
        ],
    },
    "membership": {
        "en": [
            ("What does membership cost per year?", "Membership costs €49 a year for one person and €79 for two."),
            (
                "How do I cancel my membership?",
                "You can cancel with 4 weeks' notice to the end of the membership year.",
            ),
            ("I lost my member card", "A new card is free, and until it comes the digital one in the app is enough."),
            (
                "Can I bring a friend with my membership?",
                "On the first Sunday of a month each member may bring 1 guest.",
            ),
            (
                "does my membership work in the other two museums",
                "Yes, it is valid in all 3 museums and at the observatory.",
            ),
            (
                "Can I give a membership as a present?",
                "Gift memberships start on a day that you choose and do not renew.",
            ),
        ],
        "de": [
            (
                "Verlängert sich die Mitgliedschaft automatisch?",
                "Ja, sie verlängert sich um 12 Monate, wenn Sie nicht 4 Wochen vorher kündigen.",
            ),
            ("Kann ich meine neue Adresse hier melden?", "Ihre Adresse ändern Sie unter Mein Konto in 2 Schritten."),
            (
                "Gilt die Familienkarte auch für Großeltern?",
                "Die Familienkarte für 99 € gilt für 2 Erwachsene, auch für Großeltern.",
            ),
        ],
        "fr": [
            (
                "Quels sont les avantages de la carte annuelle ?",
                "La carte à 49 € donne accès aux 3 musées et 10 % de remise à la boutique.",
            ),
            ("Comment renouveler ma carte ?", "La carte se renouvelle toute seule pour 12 mois."),
        ],
    },
    "lost_property": {
        "en": [
            (
                "I left a grey scarf in the cinema yesterday",
                "Things found in the cinema are at the main desk from 10:00 on the next day.",
            ),
            (
                "How long do you keep lost things?",
                "We keep lost property for 6 weeks and hand it to the city after that.",
            ),
            ("Can you post my glasses to me?", "We post found things for €6.50 once you have described them."),
            (
                "My daughter lost her teddy bear somewhere on level 2!!",
                "The stewards of level 2 check every room at 18:15 and bring toys to the main desk.",
            ),
            (
                "I forgot my rucksack in a locker",
                "Lockers are emptied every evening, and bags wait at the security desk.",
            ),
            (
                "Somebody found my phone, where can I fetch it?",
                "Phones are kept in the safe and are handed out with an ID from 10:00 to 17:30.",
            ),
        ],
        "de": [
            (
                "Ich habe meinen Regenschirm im Café vergessen",
                "Fundsachen aus dem Café liegen ab 10:00 Uhr am nächsten Tag an der Kasse.",
            ),
            (
                "Wo melde ich eine verlorene Geldbörse?",
                "Geldbörsen melden Sie beim Sicherheitsdienst im Erdgeschoss, Raum 003.",
            ),
            ("Schicken Sie Fundsachen auch zu?", "Ja, der Versand kostet 6,50 € und dauert 3 Tage."),
        ],
        "fr": [
            (
                "J'ai perdu une boucle d'oreille dans la salle 12",
                "Les bijoux trouvés sont gardés 6 semaines dans le coffre de l'accueil.",
            ),
            (
                "Où se trouve le bureau des objets trouvés ?",
                "Les objets trouvés sont à l'accueil principal, de 10:00 à 17:30.",
            ),
        ],
    },
    "getting_here": {
        "en": [
            ("Where can I park?", "The Lindenhof garage in Mill Street has 180 spaces and costs €2.20 an hour."),
            (
                "Which tram goes from the main station?",
                "Tram 7 takes 11 minutes from the main station to the stop Lindenhof.",
            ),
            ("Can I charge my electric car?", "There are 8 charging points on deck 2 of the garage."),
            ("Is there a place for bikes?", "The rack beside the east gate takes 60 bikes and is roofed."),
            ("Where do coaches stop?", "Coaches may stop for 15 minutes at bay 3 in Canal Road."),
            ("how far is it on foot from the cathedral", "From the cathedral it is 900 metres, about 12 minutes."),
        ],
        "de": [
            ("Gibt es Behindertenparkplätze?", "Vier Behindertenparkplätze liegen 30 Meter vor dem Haupteingang."),
            ("Fährt sonntags ein Bus?", "Sonntags fährt die Linie 42 alle 20 Minuten."),
            (
                "Wie komme ich vom Flughafen zu Ihnen?",
                "Mit der S-Bahn S3 sind es 38 Minuten bis Lindenhof, Umstieg am Hauptbahnhof.",
            ),
        ],
        "fr": [
            ("Quel tram faut-il prendre depuis la gare ?", "Le tram 7 met 11 minutes depuis la gare centrale."),
            (
                "Y a-t-il un parking pour camping-cars ?",
                "Les camping-cars peuvent se garer au quai du Canal, 9 € par jour.",
            ),
        ],
    },
    "guided_tours": {
        "en": [
            (
                "When does the English tour start?",
                "The English tour starts daily at 11:00 and 14:30 at the globe in the foyer.",
            ),
            ("How long is the highlights tour?", "The highlights tour lasts 60 minutes and covers 9 rooms."),
            (
                "Can small children join the tour?",
                "The family tour is made for children from 5 years and lasts 40 minutes.",
            ),
            ("Is the audio guide included?", "The audio guide is in the app at no cost, and devices cost €3."),
            (
                "Can I book a private guide for my mother's birthday?",
                "A private tour costs €95 for up to 10 people and can be booked 5 days ahead.",
            ),
            (
                "What happens if the tour is full?",
                "Full tours have a waiting list, and free places are given out 10 minutes before the start.",
            ),
        ],
        "de": [
            (
                "Muss man sich für die Taschenlampenführung anmelden?",
                "Ja, die 25 Plätze sind nur mit Anmeldung zu haben.",
            ),
            ("Was kostet eine Führung zusätzlich?", "Eine öffentliche Führung kostet 4 € zusätzlich zum Eintritt."),
            (
                "Gibt es Führungen auf Türkisch?",
                "Führungen auf Türkisch gibt es an jedem dritten Sonntag um 15:00 Uhr.",
            ),
        ],
        "fr": [
            ("Y a-t-il une visite guidée en français ?", "La visite en français a lieu le samedi à 13:00."),
            (
                "La visite de la coupole est-elle adaptée aux enfants ?",
                "Oui, à partir de 8 ans, la montée compte 142 marches.",
            ),
        ],
    },
    "exhibitions": {
        "en": [
            (
                "Until when is the clockmakers exhibition on?",
                "The clockmakers are on show until 28 February in the west wing.",
            ),
            (
                "Is the exhibition suitable for a six year old?",
                "It has 14 stations to try out that suit children from 5 years.",
            ),
            ("Can I take photos?", "Photos without flash are allowed everywhere but in rooms 21 to 23."),
            ("Where is the painting with the blue horse?", "The blue horse hangs in room 17 on level 2."),
            ("Does the special exhibition cost extra?", "The special exhibition costs €5 on top of the ticket."),
            (
                "What can you recommend if we have only one hour?",
                "In one hour see rooms 3, 9 and 17, and finish with the view from the tower.",
            ),
        ],
        "de": [
            ("Darf man im Museum zeichnen?", "Zeichnen mit Bleistift ist erlaubt, Hocker stehen in Raum 2."),
            ("Ist die Mumie noch zu sehen?", "Die Mumie ist bis 15. Januar in der Restaurierung."),
            ("Welche Ausstellung kommt als Nächstes?", "Ab 20. März zeigen wir Fotografien aus 60 Jahren Hafen."),
        ],
        "fr": [
            (
                "L'exposition est-elle traduite en français ?",
                "Tous les textes des salles 1 à 20 sont aussi en français.",
            ),
            (
                "Combien de temps faut-il pour visiter ?",
                "Comptez 90 minutes pour la collection et 45 pour l'exposition temporaire.",
            ),
        ],
    },
    "app_wifi": {
        "en": [
            (
                "The app crashes when I scan the code",
                "Version 5.2 mends the crash, please update the app and scan again.",
            ),
            ("What is the wifi password?", "The network Lindenhof-Guest needs no password and stays on for 3 hours."),
            ("I can't log in to my account", "After 5 wrong tries the account is locked for 15 minutes."),
            (
                "How do I delete my account?",
                "Choose Profile, then Privacy, then Delete, and the data is gone within 30 days.",
            ),
            ("Does the app work offline?", "The tours work offline once you have loaded them, about 240 MB."),
            (
                "I got charged twice on my card",
                "The second charge is a reservation that your bank gives back within 5 working days.",
            ),
        ],
        "de": [
            ("Wie bekomme ich ein neues Passwort?", "Tippen Sie auf Passwort vergessen, der Link gilt 60 Minuten."),
            (
                "Warum sehe ich mein Ticket nicht in der App?",
                "Tickets erscheinen nur, wenn App und Bestellung dieselbe Mailadresse haben.",
            ),
            ("Kann ich die App auf Englisch umstellen?", "Unter Einstellungen, Sprache stehen 6 Sprachen zur Wahl."),
        ],
        "fr": [
            (
                "Je n'ai pas reçu le code de connexion",
                "Le code arrive en 2 minutes, regardez aussi dans les indésirables.",
            ),
            ("L'application est-elle gratuite ?", "Oui, l'application est gratuite et pèse 85 Mo."),
        ],
    },
}

# language -> sentences that add something true to any answer
DETAILS: dict[str, list[str]] = {
    "en": [
        "At the main desk a colleague can do it for you between 10:00 and 17:30.",
        "You find the same under Plan Your Visit on our site.",
        "Please have your order number ready, it begins with LH and has 8 digits.",
        "On busy weekends it takes up to 20 minutes longer.",
        "This is the same in the House of Nature, the City Museum and the Observatory.",
        "If you come by tram, use the east entrance, where there is rarely a queue.",
        "Members do this in the app under My Card.",
        "Bags bigger than 40 cm go into the lockers, which take a coin of €1.",
        "From Tuesday to Friday it is calmer, so you may prefer one of these days.",
        "Children under 12 need a grown-up with them in the galleries.",
        "You get a confirmation within 15 minutes.",
        "If plans change, you can undo it in the same place.",
        "The rule holds until the end of the season on 31 March.",
        "For visitors with a disability pass it is free of charge.",
    ],
    "de": [
        "Am Empfang hilft Ihnen von 10:00 bis 17:30 Uhr gern jemand weiter.",
        "Dasselbe finden Sie auf unserer Seite unter Besuch planen.",
        "Halten Sie bitte die Bestellnummer bereit, sie beginnt mit LH und hat 8 Ziffern.",
        "An vollen Wochenenden dauert es bis zu 20 Minuten länger.",
        "Das gilt in allen drei Häusern.",
        "Eine Bestätigung kommt innerhalb von 15 Minuten.",
        "Taschen über 40 cm gehören ins Schließfach, dafür brauchen Sie eine Münze zu 1 €.",
        "Mit Schwerbehindertenausweis ist es kostenlos.",
    ],
    "fr": [
        "À l'accueil, un collègue peut le faire pour vous de 10:00 à 17:30.",
        "Vous trouvez la même chose sur notre site sous Préparer la visite.",
        "Gardez votre numéro de commande, il commence par LH et compte 8 chiffres.",
        "Le week-end, comptez jusqu'à 20 minutes de plus.",
        "C'est valable dans les trois musées.",
        "Vous recevez une confirmation en 15 minutes.",
        "Les sacs de plus de 40 cm vont à la consigne, avec une pièce de 1 €.",
        "C'est gratuit pour les personnes en situation de handicap.",
    ],
}

STEPS: dict[str, list[str]] = {
    "en": [
        "1. Open My Orders.\n2. Choose the booking.\n3. Press Change and confirm.",
        "1. Go to the main desk on level 0.\n2. Show your ticket.\n3. Tell them what you need.",
        "1. Open the app.\n2. Tap the menu at the top left.\n3. Choose Help and then your visit.",
    ],
    "de": [
        "1. Öffnen Sie Meine Bestellungen.\n2. Wählen Sie die Buchung.\n3. Bestätigen Sie die Änderung.",
        "1. Kommen Sie zum Empfang auf Ebene 0.\n2. Zeigen Sie Ihr Ticket.\n3. Sagen Sie, was Sie brauchen.",
    ],
    "fr": [
        "1. Ouvrez Mes commandes.\n2. Choisissez la réservation.\n3. Confirmez le changement.",
        "1. Allez à l'accueil au niveau 0.\n2. Montrez votre billet.\n3. Dites ce qu'il vous faut.",
    ],
}

GREETINGS: dict[str, list[str]] = {
    "en": [
        "Thanks for your question!",
        "Hello and thank you for writing to the Lindenhof museums.",
        "Good question.",
        "Sure.",
    ],
    "de": ["Danke für Ihre Frage!", "Guten Tag und danke für Ihre Nachricht.", "Gern."],
    "fr": ["Merci pour votre question !", "Bonjour et merci de nous écrire.", "Bien sûr."],
}

CLOSINGS: dict[str, list[str]] = {
    "en": ["We look forward to your visit.", "Is there anything else?", "Enjoy your day at the museum! 🦕"],
    "de": ["Wir freuen uns auf Ihren Besuch.", "Kann ich sonst noch helfen?"],
    "fr": ["Au plaisir de vous accueillir.", "Puis-je vous aider pour autre chose ?"],
}

HEDGES: dict[str, list[str]] = {
    "en": [
        "I am not sure, but I think so.",
        "It probably depends on the day.",
        "Maybe you should check the website.",
        "This might have changed, I am not sure.",
    ],
    "de": ["Ich bin nicht sicher, aber wahrscheinlich schon.", "Vielleicht schauen Sie besser auf die Webseite."],
    "fr": ["Je ne suis pas sûr, mais probablement oui.", "Peut-être devriez-vous consulter le site."],
}

VAGUE: dict[str, list[str]] = {
    "en": [
        "That depends on your booking and on the museum that you visit.",
        "Usually there is a way to do that, and our team knows more.",
        "Museums are wonderful places with many things to discover for young and old.",
        "Please see our website for this.",
        "We offer many services to make your visit a pleasant one.",
    ],
    "de": [
        "Das kommt auf Ihre Buchung und das Haus an.",
        "Museen sind wunderbare Orte, an denen es viel zu entdecken gibt.",
        "Bitte sehen Sie auf unserer Webseite nach.",
    ],
    "fr": [
        "Cela dépend de votre réservation et du musée.",
        "Les musées sont des lieux merveilleux où il y a beaucoup à découvrir.",
        "Veuillez consulter notre site.",
    ],
}

REFUSALS: dict[str, list[str]] = {
    "en": [
        "I'm sorry, I can't help with that.",
        "Sorry, I cannot answer this question. Please contact the service team.",
    ],
    "de": [
        "Dabei kann ich leider nicht helfen.",
        "Leider kann ich diese Frage nicht beantworten. Bitte wenden Sie sich an das Team.",
    ],
    "fr": [
        "Désolé, je ne peux pas vous aider.",
        "Je ne peux pas répondre à cette question, merci de contacter le service.",
    ],
}

CONTACTS: dict[str, list[str]] = {
    "en": [
        "Write to tickets@lindenhof-museen.example if it does not work.",
        "You can also call us on +49 30 23125 140.",
        "Your contact is Ms Petra Hollmann, p.hollmann@lindenhof-museen.example, phone 030 23125-27.",
    ],
    "de": [
        "Schreiben Sie sonst an service@lindenhof-museen.example.",
        "Sie erreichen uns auch unter 030 / 23125 140.",
    ],
    "fr": [
        "Sinon, écrivez à bonjour@lindenhof-museen.example.",
        "Vous pouvez aussi nous appeler au +49 30 23125 141.",
    ],
}

# how a chat went before the question: what the visitor wrote, what the bot said
OPENERS: dict[str, list[tuple[str, str]]] = {
    "en": [
        ("hi", "Hello! I am Linnea, the helper of the Lindenhof museums. What can I do for you?"),
        ("Hello, we want to come next weekend with friends from abroad.", "How nice! What would you like to know?"),
        ("I have a question about my order LH20417733", "Of course, what is it about?"),
        (
            "My mail is k.brandt@example.org, can you find my booking?",
            "I cannot look into bookings, but I can tell how it works.",
        ),
    ],
    "de": [
        ("Hallo", "Guten Tag! Ich bin Linnea. Wie kann ich helfen?"),
        ("Ich habe gestern bei Ihnen gebucht, mein Name ist Jonas Weber.", "Danke, Herr Weber. Worum geht es?"),
    ],
    "fr": [
        ("Bonjour", "Bonjour ! Je suis Linnea. Que puis-je faire pour vous ?"),
        ("Nous venons à quatre dimanche.", "Très bien ! Que voulez-vous savoir ?"),
    ],
}

QUESTIONS: tuple[Question, ...] = tuple(
    Question(area, language, text, answer)
    for area, languages in ASKED.items()
    for language, asked in languages.items()
    for text, answer in asked
)
